// SPDX-License-Identifier: Apache-2.0
/* Memory that is kept for later but is nobody's now: AddressSanitizer, if it watches, reports who
 * still uses it. */
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif

#ifndef ASAN
#define ASAN 0
#endif

#if ASAN
#include <sanitizer/asan_interface.h>
#define ASAN_POISON(ptr, len)   ASAN_POISON_MEMORY_REGION((ptr), (len))
#define ASAN_UNPOISON(ptr, len) ASAN_UNPOISON_MEMORY_REGION((ptr), (len))
#else
#define ASAN_POISON(ptr, len)   ((void)(ptr), (void)(len))
#define ASAN_UNPOISON(ptr, len) ((void)(ptr), (void)(len))
#endif
