# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` lays down, and the files by which other build systems find it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(own_dir "${CMAKE_INSTALL_LIBDIR}/headway")
set(cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Headway")
set(made_dir "${CMAKE_BINARY_DIR}/install")

# Headway::headway is headway.h alone. Headway::mpich and Headway::ompi are for programs that link the library
# instead of having it preloaded; a linker that drops what seems unneeded would drop the MPI behind it.
add_library(headway INTERFACE)
target_include_directories(headway INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(headway INTERFACE ${CMAKE_DL_LIBS})
set(targets headway)
foreach(flavour ${flavours})
    set_target_properties(headway-${flavour} PROPERTIES EXPORT_NAME ${flavour})
    target_link_options(headway-${flavour} INTERFACE LINKER:--no-as-needed)
    list(APPEND targets headway-${flavour})
endforeach()
install(TARGETS ${targets} EXPORT HeadwayTargets LIBRARY DESTINATION "${own_dir}")
install(EXPORT HeadwayTargets NAMESPACE Headway:: DESTINATION "${cmake_dir}")

configure_package_config_file(packaging/HeadwayConfig.cmake.in "${made_dir}/HeadwayConfig.cmake"
    INSTALL_DESTINATION "${cmake_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${made_dir}/HeadwayConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${made_dir}/HeadwayConfig.cmake" "${made_dir}/HeadwayConfigVersion.cmake"
    DESTINATION "${cmake_dir}")

install(FILES include/headway.h include/headway.f90 TYPE INCLUDE)
set(python_dir "${own_dir}/python")
install(DIRECTORY cli/headway DESTINATION "${python_dir}" FILES_MATCHING PATTERN "*.py"
    PATTERN "*.jinja" PATTERN "requirements.txt" REGEX "/programs/inputs/.*/[^/]*$")
install(DIRECTORY bench/ DESTINATION "${python_dir}/headway/bench/sources" FILES_MATCHING PATTERN "*.[ch]"
    PATTERN "*.sh")
install(FILES doc/man/headway.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES doc/man/headway.7 DESTINATION "${CMAKE_INSTALL_MANDIR}/man7")
install(DIRECTORY doc/guide doc/schema TYPE DOC)
install(FILES README.md CHANGELOG.md TYPE DOC)
install(FILES packaging/completions/headway
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(FILES packaging/completions/_headway DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")

# Relative to themselves: these work wherever the tree is moved to.
configure_file(packaging/headway.in "${made_dir}/headway" @ONLY)
install(PROGRAMS "${made_dir}/headway" TYPE BIN)
file(RELATIVE_PATH prefix_from_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(packaging/headway.pc.in "${made_dir}/headway.pc" @ONLY)
install(FILES "${made_dir}/headway.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# A modulefile lies in a tree of its own, so it names the prefix, which is known at installation only.
install(CODE "
    set(PROJECT_VERSION \"${PROJECT_VERSION}\")
    set(own_dir \"${own_dir}\")
    set(libdir \"${CMAKE_INSTALL_LIBDIR}\")
    set(includedir \"${CMAKE_INSTALL_INCLUDEDIR}\")
    set(mandir \"${CMAKE_INSTALL_MANDIR}\")
    get_filename_component(prefix \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
    set(modulefile \"\${prefix}/${CMAKE_INSTALL_DATADIR}/modulefiles/headway/${PROJECT_VERSION}\")
    configure_file(\"${PROJECT_SOURCE_DIR}/packaging/modulefile.in\" \"\$ENV{DESTDIR}\${modulefile}\" @ONLY)
    message(STATUS \"Installing: \$ENV{DESTDIR}\${modulefile}\")
")
