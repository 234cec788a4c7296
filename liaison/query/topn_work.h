// SPDX-License-Identifier: Apache-2.0
/*
 * MeasureService.TopN: lists of nodes, folded into one TopNResponse.
 *
 * Nodes answer with one value for each entity, its best one in the time asked. So what is asked
 * depends on what is wanted (--topn):
 *
 *   distinct  one question for each group, over the whole range: the best single value counts
 *   range     one question for each group and interval, a window of them at a time: the function
 *             is taken over the intervals. Not needed where it is the best value anyway (MAX of the
 *             greatest, MIN of the smallest), and given up beyond --topn-max-intervals.
 */
#pragma once

#include "liaison/query/work.h"

extern const struct work_ops topn_work_ops;
