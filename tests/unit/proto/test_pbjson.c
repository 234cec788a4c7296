// SPDX-License-Identifier: Apache-2.0
/* What proto3 JSON may look like, and what is wrong with what it may not. */
#include "proto/alloc.h"
#include "proto/database.pb-c.h"
#include "proto/measure.pb-c.h"
#include "proto/pbjson.h"
#include "proto/pbjson_name.h"
#include "proto/property.pb-c.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/proto/sample.h"

#include <math.h>

#define QUERY    (&banyandb__measure__v1__query_request__descriptor)
#define MEASURE  (&banyandb__database__v1__measure__descriptor)
#define PROPERTY (&banyandb__property__v1__property__descriptor)
#define TAG      (&banyandb__model__v1__tag_value__descriptor)
#define FIELD    (&banyandb__model__v1__field_value__descriptor)
#define NODE     (&banyandb__database__v1__node__descriptor)
#define CRITERIA (&banyandb__model__v1__criteria__descriptor)

static void *read(const char *json, const ProtobufCMessageDescriptor *descriptor)
{
    ProtobufCMessage *message = NULL;
    struct error err = {0};
    bool ok = pbjson_read(slice_str(json), descriptor, NULL, &message, &err);
    ck_assert_msg(ok, "%s: %s", json, err.text);
    return message;
}

/* Different spellings of one message. */
START_TEST(spellings)
{
    static const struct {
        const char *a;
        const char *b;
    } queries[] = {
        {"{\"timeRange\":{\"begin\":\"2026-11-30T10:50:00Z\"}}",
         "{\"time_range\":{\"begin\":\"2026-11-30T12:50:00.000+02:00\"}}"},
        {"{\"offset\":5,\"limit\":4294967295}", "{\"limit\":\"4294967295\",\"offset\":5.0}"},
        {"{\"orderBy\":{\"sort\":\"SORT_ASC\"}}", "{\"order_by\":{\"sort\":2}}"},
        {"{\"name\":\"m\"}", "{\"name\":\"m\",\"noSuchField\":[{}],\"criteria\":null}"},
        {"{\"groupModRevisions\":{\"g\":\"12\"}}", "{\"group_mod_revisions\":{\"g\":12}}"},
        {"{\"top\":{\"number\":-3}}", "{\"top\":{\"number\":\"-3\"}}"},
        {"{\"limit\":100}", "{\"limit\":1e2}"},
        {"{\"limit\":100}", "{\"limit\":\"1.0e2\"}"},
        {"{\"groups\":[]}", "{}"},
        {"{\"name\":\"h\xc3\xa9\"}", "{\"name\":\"h\\u00e9\"}"},
        {"{\"rewriteAggTopNResult\":true}", "{\"rewrite_agg_top_n_result\":true}"},
    };
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        struct slice a = sample_request(queries[i].a, &arena);
        struct slice b = sample_request(queries[i].b, &arena);
        ck_assert_msg(slice_equal(a, b), "row %zu", i);
    }
    arena_fini(&arena);
}
END_TEST

START_TEST(measure)
{
    Banyandb__Database__V1__Measure *message = read(
        "{\"metadata\":{\"group\":\"g\",\"name\":\"m\",\"modRevision\":\"1796036802734883796\"},"
        "\"tagFamilies\":[{\"name\":\"default\",\"tags\":[{\"name\":\"id\",\"type\":"
        "\"TAG_TYPE_STRING\"},{\"name\":\"n\",\"type\":2}]}],\"fields\":[{\"name\":\"v\","
        "\"fieldType\":\"FIELD_TYPE_FLOAT\"}],\"entity\":{\"tagNames\":[\"id\",\"n\"]},"
        "\"interval\":\"1m\",\"indexMode\":true,"
        "\"updatedAt\":\"2026-11-30T11:06:42.734884017Z\"}",
        MEASURE);
    ck_assert_int_eq(message->metadata->mod_revision, 1796036802734883796);
    ck_assert_uint_eq(message->n_tag_families, 1);
    ck_assert_uint_eq(message->tag_families[0]->n_tags, 2);
    ck_assert_int_eq(message->tag_families[0]->tags[1]->type,
                     BANYANDB__DATABASE__V1__TAG_TYPE__TAG_TYPE_INT);
    ck_assert_int_eq(message->fields[0]->field_type,
                     BANYANDB__DATABASE__V1__FIELD_TYPE__FIELD_TYPE_FLOAT);
    ck_assert_str_eq(message->entity->tag_names[1], "n");
    ck_assert(message->index_mode);
    ck_assert_int_eq(message->updated_at->seconds, 1796036802);
    ck_assert_int_eq(message->updated_at->nanos, 734884017);
    ck_assert_ptr_null(message->sharding_key);
    protobuf_c_message_free_unpacked(&message->base, NULL);
}
END_TEST

START_TEST(values)
{
    Banyandb__Model__V1__TagValue *tag = read("{\"null\":null}", TAG);
    ck_assert_int_eq(tag->value_case, BANYANDB__MODEL__V1__TAG_VALUE__VALUE_NULL);
    protobuf_c_message_free_unpacked(&tag->base, NULL);

    tag = read("{\"null\":\"NULL_VALUE\"}", TAG);
    ck_assert_int_eq(tag->value_case, BANYANDB__MODEL__V1__TAG_VALUE__VALUE_NULL);
    protobuf_c_message_free_unpacked(&tag->base, NULL);

    tag = read("{\"int\":{}}", TAG);
    ck_assert_int_eq(tag->value_case, BANYANDB__MODEL__V1__TAG_VALUE__VALUE_INT);
    ck_assert_int_eq(tag->int_->value, 0);
    protobuf_c_message_free_unpacked(&tag->base, NULL);

    tag = read("{\"str\":null,\"intArray\":{\"value\":[1,\"-9223372036854775808\"]}}", TAG);
    ck_assert_int_eq(tag->value_case, BANYANDB__MODEL__V1__TAG_VALUE__VALUE_INT_ARRAY);
    ck_assert_int_eq(tag->int_array->value[1], INT64_MIN);
    protobuf_c_message_free_unpacked(&tag->base, NULL);

    tag = read("{\"binary_data\":\"AAH_\"}", TAG);
    ck_assert_uint_eq(tag->binary_data.len, 3);
    ck_assert_int_eq(memcmp(tag->binary_data.data, "\x00\x01\xff", 3), 0);
    protobuf_c_message_free_unpacked(&tag->base, NULL);

    tag = read("{\"timestamp\":\"1969-12-31T23:59:59.5Z\"}", TAG);
    ck_assert_int_eq(tag->timestamp->seconds, -1);
    ck_assert_int_eq(tag->timestamp->nanos, 500000000);
    protobuf_c_message_free_unpacked(&tag->base, NULL);
}
END_TEST

START_TEST(floats)
{
    static const struct {
        const char *json;
        double value;
    } table[] = {
        {"1.5", 1.5},       {"3", 3},
        {"\"2.25\"", 2.25}, {"\"Infinity\"", (double)INFINITY},
        {"-1e300", -1e300}, {"\"-Infinity\"", (double)-INFINITY},
        {"\"-3\"", -3},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char json[128];
        snprintf(json, sizeof json, "{\"float\":{\"value\":%s}}", table[i].json);
        Banyandb__Model__V1__FieldValue *field = read(json, FIELD);
        ck_assert_double_eq(field->float_->value, table[i].value);
        protobuf_c_message_free_unpacked(&field->base, NULL);
    }
    Banyandb__Model__V1__FieldValue *field = read("{\"float\":{\"value\":\"NaN\"}}", FIELD);
    ck_assert_double_nan(field->float_->value);
    protobuf_c_message_free_unpacked(&field->base, NULL);
}
END_TEST

START_TEST(maps)
{
    Banyandb__Database__V1__Node *node =
        read("{\"roles\":[\"ROLE_META\",2],\"labels\":{\"type\":\"hot\",\"\":\"\"}}", NODE);
    ck_assert_uint_eq(node->n_roles, 2);
    ck_assert_int_eq(node->roles[0], BANYANDB__DATABASE__V1__ROLE__ROLE_META);
    ck_assert_int_eq(node->roles[1], BANYANDB__DATABASE__V1__ROLE__ROLE_DATA);
    ck_assert_uint_eq(node->n_labels, 2);
    ck_assert_str_eq(node->labels[0]->key, "type");
    ck_assert_str_eq(node->labels[0]->value, "hot");
    ck_assert_str_eq(node->labels[1]->key, "");
    protobuf_c_message_free_unpacked(&node->base, NULL);
}
END_TEST

START_TEST(refused)
{
    const struct {
        const ProtobufCMessageDescriptor *descriptor;
        const char *json;
        const char *text; /* how the error begins */
    } table[] = {
        {QUERY, "", "JSON line 1 column "},
        {QUERY, "[]", "an object is expected, found an array"},
        {QUERY, "3", "JSON line 1 column "},
        {QUERY, "{\"name\":\"a\"}x", "JSON line 1 column "},
        {QUERY, "{\"name\":\"\xff\"}", "JSON line 1 column "},
        {QUERY, "{\"name\":\"a\\u0000b\"}", "JSON line 1 column "},
        {QUERY, "{\"name\":\"a\",\"name\":\"b\"}", "JSON line 1 column "},
        {QUERY, "{\"tagProjection\":{},\"tag_projection\":{}}",
         "tag_projection: the field comes twice"},
        {QUERY, "{\"name\":3}", "name: a string is expected, found a number"},
        {QUERY, "{\"trace\":\"true\"}", "trace: a boolean is expected, found a string"},
        {QUERY, "{\"groups\":\"g\"}", "groups: an array is expected, found a string"},
        {QUERY, "{\"groups\":[\"g\",null]}", "groups[1]: a value is expected, found null"},
        {QUERY, "{\"groupModRevisions\":[]}",
         "groupModRevisions: an object is expected, found an array"},
        {QUERY, "{\"groupModRevisions\":{\"g\":\"x\"}}",
         "groupModRevisions.g: a whole number is expected, found \"x\""},
        {QUERY, "{\"limit\":-1}", "limit: the number is out of range 0 to 4294967295"},
        {QUERY, "{\"limit\":4294967296}", "limit: the number is out of range 0 to 4294967295"},
        {QUERY, "{\"limit\":1.5}", "limit: a whole number is expected, found 1.5"},
        {QUERY, "{\"limit\":1e300}", "limit: a whole number is expected, found 1e+300"},
        {QUERY, "{\"limit\":\" 1\"}", "limit: a whole number is expected, found \" 1\""},
        {QUERY, "{\"limit\":\"0x10\"}", "limit: a whole number is expected, found \"0x10\""},
        {QUERY, "{\"limit\":\"\"}", "limit: a whole number is expected, found \"\""},
        {QUERY, "{\"limit\":\"--1\"}", "limit: a whole number is expected, found \"--1\""},
        {QUERY, "{\"top\":{\"number\":2147483648}}",
         "top.number: the number is out of range -2147483648 to 2147483647"},
        {QUERY, "{\"orderBy\":{\"sort\":\"UP\"}}",
         "orderBy.sort: \"UP\" is no value of banyandb.model.v1.Sort"},
        {QUERY, "{\"timeRange\":{\"begin\":\"yesterday\"}}",
         "timeRange.begin: an RFC 3339 time is expected, found \"yesterday\""},
        {QUERY, "{\"timeRange\":{\"begin\":{\"seconds\":1}}}",
         "timeRange.begin: an RFC 3339 time is expected, found an object"},
        {QUERY, "{\"tagProjection\":{\"tagFamilies\":[{},{\"tags\":[\"a\",7]}]}}",
         "tagProjection.tagFamilies[1].tags[1]: a string is expected, found a number"},
        {TAG, "{\"str\":{},\"int\":{}}", "int: another member of the same oneof is set already"},
        {TAG, "{\"int\":{\"value\":\"9223372036854775808\"}}",
         "int.value: the number is out of range"},
        {TAG, "{\"int\":{\"value\":\"99999999999999999999\"}}",
         "int.value: a whole number is expected, found \"99999999999999999999\""},
        {TAG, "{\"binaryData\":\"*\"}", "binaryData: base64 is expected, found \"*\""},
        {TAG, "{\"binaryData\":1}", "binaryData: a base64 string is expected, found a number"},
        {FIELD, "{\"float\":{\"value\":\"inf\"}}",
         "float.value: a number is expected, found \"inf\""},
        {FIELD, "{\"float\":{\"value\":[]}}", "float.value: a number is expected, found an array"},
        {NODE, "{\"roles\":[null]}", "roles[0]: a value is expected, found null"},
        {PROPERTY, "{\"tags\":[{\"value\":{\"str\":{\"value\":{}}}}]}",
         "tags[0].value.str.value: a string is expected, found an object"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ProtobufCMessage *message = NULL;
        struct error err = {0};
        ck_assert(
            !pbjson_read(slice_str(table[i].json), table[i].descriptor, NULL, &message, &err));
        ck_assert_ptr_null(message);
        ck_assert_int_eq(err.code, ERROR_INVALID_ARGUMENT);
        ck_assert_msg(strncmp(err.text, table[i].text, strlen(table[i].text)) == 0, "row %zu: %s",
                      i, err.text);
    }
}
END_TEST

static char *nested(size_t levels)
{
    char *json = calloc(levels + 1, 64);
    char *at = json;
    for (size_t i = 0; i < levels; i++) {
        at = stpcpy(at, "{\"le\":{\"left\":");
    }
    at = stpcpy(at, "{}");
    memset(at, '}', 2 * levels);
    return json;
}

START_TEST(depth)
{
    char *json = nested(999);
    ProtobufCMessage *message = read(json, CRITERIA);
    protobuf_c_message_free_unpacked(message, NULL);
    free(json);
    /* The parser's own limit. */
    json = nested(5000);
    struct error err = {0};
    ck_assert(!pbjson_read(slice_str(json), CRITERIA, NULL, &message, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "maximum parsing depth"));
    free(json);
}
END_TEST

START_TEST(deep_tree)
{
    json_t *tree = json_object();
    for (size_t i = 0; i < 2 * PBJSON_MAX_DEPTH; i++) {
        tree = json_pack("{s:o}", i % 2 == 0 ? "left" : "le", tree);
    }
    ProtobufCMessage *message = NULL;
    struct error err = {0};
    ck_assert(!pbjson_message(tree, CRITERIA, NULL, &message, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "more than 2000 nested messages"));
    json_decref(tree);
}
END_TEST

START_TEST(region)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX, NULL, NULL);
    ProtobufCAllocator allocator = alloc_region(&arena);
    ProtobufCMessage *message = NULL;
    struct error err = {0};
    ck_assert(
        pbjson_read(slice_str("{\"labels\":{\"a\":\"b\"}}"), NODE, &allocator, &message, &err));
    ck_assert_str_eq(((Banyandb__Database__V1__Node *)message)->labels[0]->value, "b");
    ck_assert(!pbjson_read(slice_str("{\"labels\":{\"a\":1}}"), NODE, &allocator, &message, &err));
    ck_assert_ptr_null(message);
    arena_fini(&arena);
}
END_TEST

START_TEST(names)
{
    ck_assert_str_eq(pbjson_name_field(QUERY, "rewriteAggTopNResult")->name,
                     "rewrite_agg_top_n_result");
    ck_assert_str_eq(pbjson_name_field(TAG, "int")->name, "int");
    ck_assert_ptr_null(pbjson_name_field(QUERY, "rewriteAggTopnResult"));
    ck_assert_ptr_null(pbjson_name_field(QUERY, "TimeRange"));
    ck_assert_ptr_null(pbjson_name_field(QUERY, "timeRangeX"));
    ck_assert_ptr_null(pbjson_name_field(QUERY, ""));
    ck_assert(pbjson_name_is_map(pbjson_name_field(QUERY, "groupModRevisions")));
    ck_assert(pbjson_name_is_map(pbjson_name_field(NODE, "labels")));
    ck_assert(!pbjson_name_is_map(pbjson_name_field(NODE, "roles")));
    ck_assert(!pbjson_name_is_map(pbjson_name_field(PROPERTY, "tags")));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pbjson");
    TCase *tcase = tcase_create("pbjson");
    tcase_add_test(tcase, spellings);
    tcase_add_test(tcase, measure);
    tcase_add_test(tcase, values);
    tcase_add_test(tcase, floats);
    tcase_add_test(tcase, maps);
    tcase_add_test(tcase, refused);
    tcase_add_test(tcase, depth);
    tcase_add_test(tcase, deep_tree);
    tcase_add_test(tcase, region);
    tcase_add_test(tcase, names);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
