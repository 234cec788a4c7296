// SPDX-License-Identifier: Apache-2.0
/* What must hold between the values of the flags, and what follows from them. */
#pragma once

#include "liaison/options/options.h"

/* Fills the derived fields and adds warnings; false: err says which flag is wrong and why. */
bool options_check(struct options *options, struct error *err) MUST_CHECK;
