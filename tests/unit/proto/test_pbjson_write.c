// SPDX-License-Identifier: Apache-2.0
/* Messages as JSON: the texts that clients know, and that reading them back gives the same. */
#include "proto/measure.pb-c.h"
#include "proto/pbjson.h"
#include "proto/pbjson_write.h"
#include "tests/unit/frame/unit.h"

#include <stdlib.h>

#define QUERY    (&banyandb__measure__v1__query_request__descriptor)
#define RESPONSE (&banyandb__measure__v1__query_response__descriptor)

static ProtobufCMessage *read(const char *json, const ProtobufCMessageDescriptor *descriptor)
{
    ProtobufCMessage *message = NULL;
    struct error err = {0};
    bool ok = pbjson_read(slice_str(json), descriptor, NULL, &message, &err);
    ck_assert_msg(ok, "%s: %s", json, err.text);
    return message;
}

static void expect_same(const char *json, const ProtobufCMessageDescriptor *descriptor)
{
    ProtobufCMessage *message = read(json, descriptor);
    char *text = pbjson_write(message, PBJSON_SET);
    ck_assert_str_eq(text, json);
    free(text);
    protobuf_c_message_free_unpacked(message, NULL);
}

START_TEST(what_is_set_in_the_order_of_numbers)
{
    static const char *const queries[] = {
        "{}",
        "{\"groups\":[\"a\",\"b\"],\"name\":\"q\\\"uote \\u0001 \xc3\xa4\"}",
        "{\"timeRange\":{\"begin\":\"2026-11-30T10:50:00Z\",\"end\":\"1969-12-31T23:59:59.250Z\"}}",
        "{\"timeRange\":{\"begin\":\"0001-01-01T00:00:00.000000001Z\",\"end\":\"9999-12-31T00:00:"
        "00.000001Z\"}}",
        "{\"criteria\":{\"condition\":{\"name\":\"t\",\"op\":\"BINARY_OP_IN\",\"value\":{"
        "\"intArray\":{\"value\":"
        "[\"-9223372036854775808\",\"0\"]}}}}}",
        "{\"criteria\":{\"condition\":{\"value\":{\"null\":null}}}}",
        "{\"criteria\":{\"condition\":{\"value\":{\"binaryData\":\"AAECAw==\"}}}}",
        "{\"criteria\":{\"condition\":{\"value\":{\"str\":{}}}}}",
        "{\"top\":{\"number\":-3,\"fieldValueSort\":\"SORT_DESC\"},\"limit\":4294967295,\"trace\":"
        "true}",
        "{\"agg\":{\"function\":99}}",
        "{\"groupModRevisions\":{\"g\":\"7\"}}",
    };
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        expect_same(queries[i], QUERY);
    }
}
END_TEST

START_TEST(doubles_have_the_fewest_digits)
{
    static const char *const numbers[] = {"0.1",     "1e+300",        "-2.5",
                                          "\"NaN\"", "\"-Infinity\"", "0.30000000000000004"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char json[200];
        snprintf(
            json, sizeof json,
            "{\"dataPoints\":[{\"fields\":[{\"name\":\"f\",\"value\":{\"float\":{\"value\":%s}}"
            "}],\"sid\":\"18446744073709551615\",\"version\":\"-1\"}]}",
            numbers[i]);
        expect_same(json, RESPONSE);
    }
}
END_TEST

START_TEST(all_fields_but_unset_members_of_oneofs)
{
    ProtobufCMessage *message = read("{\"dataPoints\":[{\"sid\":\"1\"}]}", RESPONSE);
    char *text = pbjson_write(message, PBJSON_ALL);
    ck_assert_str_eq(
        text, "{\"dataPoints\":[{\"timestamp\":null,\"tagFamilies\":[],\"fields\":[],\"sid\":"
              "\"1\",\"version\":\"0\"}],\"trace\":null,\"groupStatuses\":{}}");
    free(text);
    protobuf_c_message_free_unpacked(message, NULL);
}
END_TEST

START_TEST(bytes_that_are_not_utf8_do_not_break_the_text)
{
    Banyandb__Measure__V1__QueryRequest request;
    banyandb__measure__v1__query_request__init(&request);
    char name[] = "a\xff\xe2\x82z";
    request.name = name;
    char *text = pbjson_write(&request.base, PBJSON_SET);
    ck_assert_str_eq(text, "{\"name\":\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\"}");
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pbjson_write");
    TCase *tcase = tcase_create("pbjson_write");
    tcase_add_test(tcase, what_is_set_in_the_order_of_numbers);
    tcase_add_test(tcase, doubles_have_the_fewest_digits);
    tcase_add_test(tcase, all_fields_but_unset_members_of_oneofs);
    tcase_add_test(tcase, bytes_that_are_not_utf8_do_not_break_the_text);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
