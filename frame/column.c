// SPDX-License-Identifier: Apache-2.0
/* The two tables of column.h as texts, and which type a role may have. */
#include "frame/column.h"

#include <stddef.h>

#define COLUMN_NAME(constant, byte, text) [byte] = (text),
static const char *const role_names[] = {COLUMN_ROLES(COLUMN_NAME)};
static const char *const type_names[] = {COLUMN_TYPES(COLUMN_NAME)};
#undef COLUMN_NAME

#define COUNT(table) (sizeof(table) / sizeof *(table))

const char *column_role_name(uint8_t role)
{
    return role < COUNT(role_names) ? role_names[role] : NULL;
}

const char *column_type_name(uint8_t type)
{
    return type < COUNT(type_names) ? type_names[type] : NULL;
}

bool column_pair_allowed(uint8_t role, uint8_t type)
{
    if (column_role_name(role) == NULL || column_type_name(type) == NULL) {
        return false;
    }
    if (role == COLUMN_TAG) {
        return type != COLUMN_FIELD_VALUE;
    }
    return role == COLUMN_FIELD ? type != COLUMN_TAG_VALUE : type == COLUMN_INT64;
}
