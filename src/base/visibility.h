/* For every variable that other files use: -fvisibility=hidden is about definitions alone, so without this an
 * access goes through the global offset table (one more instruction in each of a thousand entries). */
#ifndef HW_BASE_VISIBILITY_H
#define HW_BASE_VISIBILITY_H

#define HW_HIDDEN __attribute__((visibility("hidden")))

#endif
