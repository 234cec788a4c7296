// SPDX-License-Identifier: Apache-2.0
/* Items as TopNResponse bytes; protobuf-c reads them back. */
#include "proto/measure.pb-c.h"
#include "proto/topn_response.h"
#include "tests/support/chain_bytes.h"
#include "tests/unit/frame/unit.h"

typedef Banyandb__Measure__V1__TopNResponse topn_message;
typedef Banyandb__Measure__V1__TopNList__Item item_message;

static struct charge charge;
static struct chain chain;
static struct topn_response response;

static void set_up(void)
{
    charge = (struct charge){0};
    chain_init(&chain, &charge);
    topn_response_init(&response, &chain, 1 << 20);
}

static void tear_down(void)
{
    chain_fini(&chain);
    ck_assert_uint_eq(charge.total, 0);
}

static struct cell text(const char *value)
{
    return (struct cell){.kind = CELL_STRING, .bytes = slice_str(value)};
}

static struct cell number(int64_t value)
{
    return (struct cell){.kind = CELL_INT, .number.i = value};
}

static struct cell real(double value)
{
    return (struct cell){.kind = CELL_FLOAT, .number.f = value};
}

/* TagValues with arrays and times come as they are. */
static struct cell message_cell(enum cell_kind kind, const char *bytes, size_t len)
{
    return (struct cell){.kind = kind, .bytes = slice_of(bytes, len)};
}

static void put(const struct topn_tag *tags, size_t count, struct cell value)
{
    struct error err;
    const struct topn_item item = {.tag_count = count, .tags = tags, .value = value};
    ck_assert_msg(topn_response_item(&response, &item, &err), "%s", err.text);
}

/* Call free_unpacked. */
static topn_message *finish(int64_t now)
{
    topn_response_end(&response, now);
    size_t len;
    uint8_t *bytes = chain_bytes(&chain, &len);
    topn_message *message = banyandb__measure__v1__top_nresponse__unpack(NULL, len, bytes);
    ck_assert_ptr_nonnull(message);
    uint8_t *again = malloc(len + 1);
    ck_assert_uint_eq(banyandb__measure__v1__top_nresponse__get_packed_size(message), len);
    banyandb__measure__v1__top_nresponse__pack(message, again);
    ck_assert(slice_equal(slice_of(again, len), slice_of(bytes, len)));
    free(again);
    free(bytes);
    return message;
}

static void drop(topn_message *message)
{
    banyandb__measure__v1__top_nresponse__free_unpacked(message, NULL);
}

START_TEST(nothing_is_no_list)
{
    topn_message *message = finish(1);
    ck_assert_uint_eq(message->n_lists, 0);
    drop(message);
}
END_TEST

START_TEST(every_kind_of_value)
{
    static const char strings[] = "\x1a\x03\x0a\x01\x61";
    static const char time[] = "\x3a\x02\x08\x05";
    const struct topn_tag tags[] = {
        {slice_str("svc"), text("a")},
        {slice_str("empty"), text("")},
        {slice_str("null"), {.kind = CELL_NULL}},
        {slice_str("int"), number(-5)},
        {slice_str("zero"), number(0)},
        {slice_str("binary"), {.kind = CELL_BINARY, .bytes = slice_str("xyz")}},
        {slice_str("strings"), message_cell(CELL_STRINGS, strings, sizeof strings - 1)},
        {slice_str("time"), message_cell(CELL_TIME, time, sizeof time - 1)},
        {slice_str(""), text("nameless")},
    };
    put(tags, 9, number(INT64_MIN));
    put(tags, 1, real(-0.5));
    put(tags, 0, number(0));
    put(tags, 1, real(0));
    topn_message *message = finish(INT64_C(1796035830123456789));
    ck_assert_uint_eq(message->n_lists, 1);
    ck_assert_int_eq(message->lists[0]->timestamp->seconds, 1796035830);
    ck_assert_int_eq(message->lists[0]->timestamp->nanos, 123456789);
    ck_assert_uint_eq(message->lists[0]->n_items, 4);
    const item_message *first = message->lists[0]->items[0];
    ck_assert_uint_eq(first->n_entity, 9);
    ck_assert_str_eq(first->entity[0]->key, "svc");
    ck_assert_str_eq(first->entity[0]->value->str->value, "a");
    ck_assert_str_eq(first->entity[1]->value->str->value, "");
    ck_assert_int_eq(first->entity[2]->value->value_case,
                     BANYANDB__MODEL__V1__TAG_VALUE__VALUE_NULL);
    ck_assert_int_eq(first->entity[3]->value->int_->value, -5);
    ck_assert_int_eq(first->entity[4]->value->int_->value, 0);
    ck_assert_uint_eq(first->entity[5]->value->binary_data.len, 3);
    ck_assert_str_eq(first->entity[6]->value->str_array->value[0], "a");
    ck_assert_int_eq(first->entity[7]->value->timestamp->seconds, 5);
    ck_assert_str_eq(first->entity[8]->key, "");
    ck_assert_int_eq(first->value->int_->value, INT64_MIN);
    ck_assert_int_eq(first->version, 0);
    ck_assert_ptr_null(first->timestamp);
    ck_assert_double_eq(message->lists[0]->items[1]->value->float_->value, -0.5);
    ck_assert_int_eq(message->lists[0]->items[2]->value->value_case,
                     BANYANDB__MODEL__V1__FIELD_VALUE__VALUE_INT);
    ck_assert_int_eq(message->lists[0]->items[3]->value->value_case,
                     BANYANDB__MODEL__V1__FIELD_VALUE__VALUE_FLOAT);
    drop(message);
}
END_TEST

/* Lengths of one, two and three bytes, over many blocks. */
START_TEST(long_names_and_many_items)
{
    char *name = malloc(40001);
    for (size_t i = 0; i < 300; i++) {
        size_t len = i * 131 % 40000;
        memset(name, 'n', len);
        name[len] = '\0';
        const struct topn_tag tag = {slice_of(name, len % 200), text(name)};
        topn_response_init(&response, &chain, SIZE_MAX);
        put(&tag, 1, number((int64_t)i));
        topn_message *message = finish(1);
        ck_assert_uint_eq(strlen(message->lists[0]->items[0]->entity[0]->value->str->value), len);
        drop(message);
    }
    free(name);
    topn_response_init(&response, &chain, SIZE_MAX);
    const struct topn_tag tag = {slice_str("svc"), text("entity")};
    for (size_t i = 0; i < 20000; i++) {
        put(&tag, 1, number((int64_t)i));
    }
    topn_message *message = finish(-1);
    ck_assert_uint_eq(message->lists[0]->n_items, 20000);
    ck_assert_int_eq(message->lists[0]->items[19999]->value->int_->value, 19999);
    ck_assert_int_eq(message->lists[0]->timestamp->seconds, -1);
    ck_assert_int_eq(message->lists[0]->timestamp->nanos, 999999999);
    drop(message);
}
END_TEST

START_TEST(the_budget_is_kept)
{
    struct error err;
    const struct topn_tag tag = {slice_str("svc"), text("entity")};
    const struct topn_item item = {.tag_count = 1, .tags = &tag, .value = number(1)};
    topn_response_init(&response, &chain, 60);
    ck_assert(topn_response_item(&response, &item, &err));
    ck_assert(topn_response_item(&response, &item, &err));
    ck_assert(!topn_response_item(&response, &item, &err));
    ck_assert_int_eq(err.code, ERROR_RESOURCE_EXHAUSTED);
    ck_assert_ptr_nonnull(strstr(err.text, "the answer has 2 items"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proto topn_response");
    TCase *tests = tcase_create("topn_response");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, nothing_is_no_list);
    tcase_add_test(tests, every_kind_of_value);
    tcase_add_test(tests, long_names_and_many_items);
    tcase_add_test(tests, the_budget_is_kept);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
