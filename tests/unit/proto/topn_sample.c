// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/proto/topn_sample.h"

#include "tests/unit/proto/sample.h"

#define GROUP(name, more)                                                                          \
    {                                                                                              \
        "group",                                                                                   \
            "{\"metadata\":{\"name\":\"" name "\",\"modRevision\":\"5\"},"                         \
            "\"catalog\":\"CATALOG_MEASURE\",\"resourceOpts\":{\"shardNum\":2,"                    \
            "\"segmentInterval\":{\"unit\":\"UNIT_DAY\",\"num\":1},"                               \
            "\"ttl\":{\"unit\":\"UNIT_DAY\",\"num\":7}" more "}}",                                 \
            0                                                                                      \
    }
#define FIELD(name, type)                                                                          \
    "{\"name\":\"" name "\",\"fieldType\":\"FIELD_TYPE_" type "\","                                \
    "\"encodingMethod\":\"ENCODING_METHOD_GORILLA\","                                              \
    "\"compressionMethod\":\"COMPRESSION_METHOD_ZSTD\"}"
#define MEASURE(group, name, interval)                                                             \
    {                                                                                              \
        "measure",                                                                                 \
            "{\"metadata\":{\"group\":\"" group "\",\"name\":\"" name "\","                        \
            "\"modRevision\":\"7\"},\"entity\":{\"tagNames\":[\"svc\"]},\"interval\":\"" interval  \
            "\",\"tagFamilies\":[{\"name\":\"default\",\"tags\":[{\"name\":\"svc\","               \
            "\"type\":\"TAG_TYPE_STRING\"}]}],\"fields\":[" FIELD("i", "INT") "," FIELD(           \
                "f", "FLOAT") "," FIELD("s", "STRING") "]}",                                       \
            0                                                                                      \
    }
#define RULE(group, name, source, field, sort)                                                     \
    {                                                                                              \
        "topNAggregation",                                                                         \
            "{\"metadata\":{\"group\":\"" group "\",\"name\":\"" name "\","                        \
            "\"modRevision\":\"8\"},\"sourceMeasure\":{" source "},\"fieldName\":\"" field         \
            "\",\"fieldValueSort\":\"SORT_" sort "\",\"countersNumber\":1000}",                    \
            0                                                                                      \
    }
#define SOURCE(group, name) "\"group\":\"" group "\",\"name\":\"" name "\""

/*
 * g1, g2   measure m with fields i (INT), f (FLOAT), s (STRING), by minutes and by five of them
 * staged   one stage, no default
 */
// clang-format off
static const struct sample_object world[] = {
    GROUP("g1", ",\"replicas\":1"),
    GROUP("g2", ""),
    GROUP("staged", ",\"stages\":[{\"name\":\"warm\",\"nodeSelector\":\"type=warm\"}]"),
    MEASURE("g1", "m", "1m"),
    MEASURE("g2", "m", "5m"),
    MEASURE("g2", "odd", "whenever"),
    RULE("g1", "both", SOURCE("g1", "m"), "i", "UNSPECIFIED"),
    RULE("g2", "both", SOURCE("g2", "m"), "f", "UNSPECIFIED"),
    RULE("g1", "down", SOURCE("g1", "m"), "i", "DESC"),
    RULE("g2", "down", SOURCE("g2", "m"), "i", "ASC"),
    RULE("g1", "alone", SOURCE("g1", "m"), "i", "DESC"),
    RULE("g1", "text", SOURCE("g1", "m"), "s", "DESC"),
    RULE("g1", "fieldless", SOURCE("g1", "m"), "x", "DESC"),
    RULE("g1", "sourceless", SOURCE("g1", "gone"), "i", "DESC"),
    RULE("g2", "odd", SOURCE("g2", "odd"), "i", "DESC"),
    RULE("staged", "both", SOURCE("g2", "m"), "i", "DESC"),
};
// clang-format on

struct catalog *topn_sample_world(void)
{
    return sample_catalog(world, sizeof world / sizeof *world);
}
