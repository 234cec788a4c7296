// SPDX-License-Identifier: Apache-2.0
/* What the tests of requests share: a region, the sample world, and a request on its way. */
#pragma once

#include "proto/request.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/proto/sample.h"

#include <stdio.h>

#define RANGE "\"timeRange\":{\"begin\":\"2026-11-30T10:50:00Z\",\"end\":\"2026-11-30T11:15:00Z\"}"
/* A request of measure m to these groups; `more` begins with a comma or is empty. */
#define ASK(groups, more) "{\"groups\":[" groups "],\"name\":\"m\"," RANGE more "}"
#define TAGS(family, tags)                                                                         \
    "\"tagProjection\":{\"tagFamilies\":[{\"name\":\"" family "\",\"tags\":[" tags "]}]}"
#define FIELDS(names) "\"fieldProjection\":{\"names\":[" names "]}"
#define ANALYZE(text)                                                                              \
    "code: STATUS_INTERNAL_ERROR, msg: fail to analyze the query request for measure m: " text     \
    ": invalid query message"
#define GROUP_BY(family, tags) "\"groupBy\":{" TAGS(family, tags) "}"
#define AGG(function, field)                                                                       \
    "\"agg\":{\"function\":\"AGGREGATION_FUNCTION_" function "\",\"fieldName\":\"" field "\"}"
#define TOP(number, field) "\"top\":{\"number\":" number ",\"fieldName\":\"" field "\"}"

struct asking {
    struct arena arena;
    struct catalog *world;
    struct request request;
    struct error err;
};

static inline void asking_begin(struct asking *asking)
{
    *asking = (struct asking){.world = sample_world()};
    arena_init(&asking->arena, SIZE_MAX, NULL, NULL);
}

static inline void asking_end(struct asking *asking)
{
    arena_fini(&asking->arena);
    catalog_release(&asking->world);
}

static inline bool asking_parse(struct asking *asking, const char *json)
{
    struct slice bytes = sample_request(json, &asking->arena);
    asking->err = (struct error){.code = ERROR_NONE};
    return request_parse(bytes, &asking->arena, &asking->request, &asking->err);
}

/* Parses, which has to succeed, and plans. */
static inline bool asking_plan(struct asking *asking, const char *json)
{
    ck_assert_msg(asking_parse(asking, json), "%s", asking->err.text);
    return request_plan(&asking->request, asking->world, "type=fast", &asking->arena, &asking->err);
}
