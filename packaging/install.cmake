# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` lays down, and the files by which other build systems find it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(own_dir "${CMAKE_INSTALL_LIBDIR}/headway")
set(cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Headway")
set(python_dir "${own_dir}/python")
set(bash_dir "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
set(zsh_dir "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
set(modules_dir "${CMAKE_INSTALL_DATADIR}/modulefiles/headway")
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
set(made_dir "${CMAKE_BINARY_DIR}/install")

# The first thing that installing does, and the target that takes it back.
string(JOIN " " installed_folders "${python_dir}" "${cmake_dir}" "${pkgconfig_dir}" "${bash_dir}" "${zsh_dir}"
    "${modules_dir}" "${CMAKE_INSTALL_INCLUDEDIR}" "${CMAKE_INSTALL_BINDIR}" "${CMAKE_INSTALL_MANDIR}/man1"
    "${CMAKE_INSTALL_MANDIR}/man7" "${CMAKE_INSTALL_DOCDIR}")
configure_file(packaging/folders.cmake.in "${made_dir}/folders.cmake" @ONLY)
configure_file(packaging/uninstall.cmake.in "${made_dir}/uninstall.cmake" @ONLY)
install(SCRIPT "${made_dir}/folders.cmake")
add_custom_target(uninstall COMMAND "${CMAKE_COMMAND}" -P "${made_dir}/uninstall.cmake" VERBATIM)

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
install(DIRECTORY cli/headway DESTINATION "${python_dir}" FILES_MATCHING PATTERN "*.py"
    PATTERN "*.jinja" PATTERN "requirements.txt" REGEX "/programs/inputs/.*/[^/]*$")
install(DIRECTORY bench/ DESTINATION "${python_dir}/headway/bench/sources" FILES_MATCHING PATTERN "*.[ch]"
    PATTERN "*.sh")
install(FILES doc/man/headway.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES doc/man/headway.7 DESTINATION "${CMAKE_INSTALL_MANDIR}/man7")
install(DIRECTORY doc/schema TYPE DOC)
install(FILES packaging/completions/headway DESTINATION "${bash_dir}")
install(FILES packaging/completions/_headway DESTINATION "${zsh_dir}")

# Pages, with the links that lead to what is installed.
install(CODE "
    execute_process(COMMAND \"${Python3_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/tools/installed_pages.py\"
        \"${made_dir}/doc\" COMMAND_ERROR_IS_FATAL ANY)
")
install(DIRECTORY "${made_dir}/doc/" TYPE DOC)

# Relative to themselves: these work wherever the tree is moved to. The interpreter is one that the caller of CMake
# chose, but none of this checkout, which may go.
set(HEADWAY_PYTHON_LINE "/usr/bin/env python3")
if(HEADWAY_PYTHON_IS_CHOSEN)
    set(HEADWAY_PYTHON_LINE "${Python3_EXECUTABLE}")
    foreach(folder "${PROJECT_SOURCE_DIR}" "${CMAKE_BINARY_DIR}")
        cmake_path(IS_PREFIX folder "${Python3_EXECUTABLE}" NORMALIZE is_own)
        if(is_own)
            set(HEADWAY_PYTHON_LINE "/usr/bin/env python3")
        endif()
    endforeach()
endif()
configure_file(packaging/headway.in "${made_dir}/headway" @ONLY)
install(PROGRAMS "${made_dir}/headway" TYPE BIN)
file(RELATIVE_PATH prefix_from_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(packaging/headway.pc.in "${made_dir}/headway.pc" @ONLY)
install(FILES "${made_dir}/headway.pc" DESTINATION "${pkgconfig_dir}")

# A modulefile lies in a tree of its own, so it names the prefix, which is known at installation only.
install(CODE "
    set(PROJECT_VERSION \"${PROJECT_VERSION}\")
    set(own_dir \"${own_dir}\")
    set(libdir \"${CMAKE_INSTALL_LIBDIR}\")
    set(includedir \"${CMAKE_INSTALL_INCLUDEDIR}\")
    set(mandir \"${CMAKE_INSTALL_MANDIR}\")
    get_filename_component(prefix \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
    set(modulefile \"${made_dir}/modulefile/${PROJECT_VERSION}\")
    configure_file(\"${PROJECT_SOURCE_DIR}/packaging/modulefile.in\" \"\${modulefile}\" @ONLY)
    file(INSTALL DESTINATION \"\${prefix}/${modules_dir}\" TYPE FILE FILES \"\${modulefile}\")
")
