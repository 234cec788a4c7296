// SPDX-License-Identifier: Apache-2.0
/* Picks the layout by the version byte, and says no to all others in the words of the rule. */
#include "frame/decode.h"

#include "frame/decode_layout.h"

#include <assert.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "frames are read as they lie");
static_assert(sizeof(size_t) == 8, "32-bit counts are multiplied in size_t");

#define SPARE     16 /* readable bytes behind a frame */
#define COPY_STEP 64 /* bytes */

static const uint8_t magic[DECODE_MAGIC_LEN] = {0x00, 0x56, 0x46, 0x52};

static bool refuse_version(uint8_t version, unsigned accepted, struct error *err)
{
    const char *expected = accepted == DECODE_V4 ? "4" : accepted == DECODE_V3 ? "3" : "3 or 4";
    const char *help = version == 3 ? "; --measure-frame-versions=3,4 reads version 3 too" : "";
    return error_set(err, ERROR_FAILED_PRECONDITION,
                     "measure frame of version %u found, %s expected: measure frames of another "
                     "version come from a cluster that was not upgraded as a whole (stop every "
                     "node, start the new binary everywhere)%s",
                     version, expected, help);
}

static bool check_start(struct slice frame, unsigned accepted, struct error *err)
{
    if (frame.len <= DECODE_VERSION_AT) {
        return error_set(err, ERROR_DATA_LOSS,
                         "frame of %zu bytes found, at least the 5 of magic and version expected",
                         frame.len);
    }
    if (memcmp(frame.ptr, magic, sizeof magic) != 0) {
        return error_set(err, ERROR_DATA_LOSS, "magic %02x%02x%02x%02x found, 00564652 expected",
                         frame.ptr[0], frame.ptr[1], frame.ptr[2], frame.ptr[3]);
    }
    uint8_t version = frame.ptr[DECODE_VERSION_AT];
    if ((version != 3 && version != 4) || (accepted >> version & 1) == 0) {
        return refuse_version(version, accepted, err);
    }
    return true;
}

size_t decode_rows(struct slice start, size_t len, unsigned accepted)
{
    if (!check_start(start, accepted, NULL)) {
        return 0;
    }
    return start.ptr[DECODE_VERSION_AT] == 4 ? decode_v4_rows(start, len)
                                             : decode_v3_rows(start, len);
}

/* A version 4 frame that does not lie on a multiple of 8 is copied to one that does. */
static bool copy_some(struct decode *decode, size_t *left)
{
    const struct slice frame = decode->frame;
    if (decode->copy == NULL) {
        decode->copy = decode->room.alloc(decode->room.owner, frame.len + SPARE, 8);
        memset(decode->copy + frame.len, 0, SPARE);
    }
    size_t part = frame.len - decode->copied;
    part = part / COPY_STEP > *left ? *left * COPY_STEP : part;
    memcpy(decode->copy + decode->copied, frame.ptr + decode->copied, part);
    decode->copied += part;
    progress_spend(left, part / COPY_STEP);
    return decode->copied == frame.len;
}

/* False: the frame is being copied still. */
static bool is_aligned(struct decode *decode, size_t *left)
{
    if ((uintptr_t)decode->frame.ptr % 8 == 0 || decode->view->version == 3) {
        return true;
    }
    if (!copy_some(decode, left)) {
        return false;
    }
    decode->frame.ptr = decode->copy;
    return true;
}

static bool check_columns(const struct decode *decode, struct error *err)
{
    return decode->columns <= DECODE_COLUMNS_MAX ||
           error_set(err, ERROR_DATA_LOSS, "%zu columns found, at most %u expected",
                     decode->columns, DECODE_COLUMNS_MAX);
}

static enum progress begin(struct decode *decode, size_t *left, struct error *err)
{
    struct view *view = decode->view;
    if (view->version == 0) {
        if (!check_start(decode->frame, decode->accepted, err)) {
            return PROGRESS_FAILED;
        }
        view->version = decode->frame.ptr[DECODE_VERSION_AT];
    }
    if (!is_aligned(decode, left)) {
        return PROGRESS_MORE;
    }
    decode->begun =
        (view->version == 4 ? decode_v4_header(decode, err) : decode_v3_header(decode, err)) &&
        check_columns(decode, err);
    return decode->begun ? PROGRESS_DONE : PROGRESS_FAILED;
}

/* A column, or as much of it as the allowance has. */
static enum progress read_column(struct decode *decode, size_t *left, struct error *err)
{
    if (decode->part == DECODE_HEAD) {
        view_add_column(decode->view, &decode->room);
    }
    const bool is_v4 = decode->view->version == 4;
    do {
        if (!(is_v4 ? decode_v4_part(decode, left, err) : decode_v3_part(decode, left, err))) {
            decode_blame(err, decode->view->column_count - 1, decode_column(decode));
            return PROGRESS_FAILED;
        }
    } while (decode->part != DECODE_HEAD && *left > 0);
    return decode->part == DECODE_HEAD ? PROGRESS_DONE : PROGRESS_MORE;
}

static bool end(struct decode *decode, struct error *err)
{
    if (wire_left(&decode->wire) > 0) {
        return error_set(err, ERROR_DATA_LOSS, "%zu bytes found after the last column (%zu of %zu)",
                         wire_left(&decode->wire), decode->columns, decode->columns);
    }
    decode->view->row_count = decode->rows;
    return true;
}

static bool has_columns_left(const struct decode *decode)
{
    return decode->view->column_count < decode->columns || decode->part != DECODE_HEAD;
}

static enum progress go_on(struct decode *decode, size_t *left, struct error *err)
{
    enum progress progress = decode->begun ? PROGRESS_DONE : begin(decode, left, err);
    while (progress == PROGRESS_DONE && has_columns_left(decode)) {
        progress = *left > 0 ? read_column(decode, left, err) : PROGRESS_MORE;
    }
    if (progress != PROGRESS_DONE) {
        return progress;
    }
    return end(decode, err) ? PROGRESS_DONE : PROGRESS_FAILED;
}

void decode_begin(struct decode *decode, struct slice frame, unsigned accepted,
                  const struct room *room, struct view *view)
{
    *view = (struct view){0};
    *decode = (struct decode){.frame = frame, .accepted = accepted, .room = *room, .view = view};
}

enum progress decode_some(struct decode *decode, size_t *left, struct error *err)
{
    enum progress progress = go_on(decode, left, err);
    if (progress == PROGRESS_FAILED) {
        *decode->view = (struct view){0};
    }
    return progress;
}

bool decode_view(struct slice frame, unsigned accepted, const struct room *room, struct view *view,
                 struct error *err)
{
    struct decode decode;
    size_t all = PROGRESS_ALL;
    decode_begin(&decode, frame, accepted, room, view);
    return decode_some(&decode, &all, err) == PROGRESS_DONE;
}

bool decode_kind(struct column *column, uint8_t role, uint8_t type, struct error *err)
{
    const char *role_name = column_role_name(role);
    const char *type_name = column_type_name(type);
    if (role_name == NULL) {
        return error_set(err, ERROR_DATA_LOSS, "role %u found, 1 to 6 expected", role);
    }
    if (type_name == NULL) {
        return error_set(err, ERROR_DATA_LOSS, "type %u found, 1 to 6 expected", type);
    }
    if (!column_pair_allowed(role, type)) {
        const char *expected = role == COLUMN_TAG     ? "a type but field_value"
                               : role == COLUMN_FIELD ? "a type but tag_value"
                                                      : "int64";
        return error_set(err, ERROR_DATA_LOSS, "role %s with type %s found, %s expected", role_name,
                         type_name, expected);
    }
    if (column->family.len > 0 && role != COLUMN_TAG) {
        return error_set(err, ERROR_DATA_LOSS,
                         "role %s with a family of %zu bytes found, none expected", role_name,
                         column->family.len);
    }
    column->role = (enum column_role)role;
    column->type = (enum column_type)type;
    return true;
}

/* A name for a text that goes to logs and trailers: cut, and ASCII that can be printed. */
struct label {
    char text[101];
};

static struct label label_of(struct slice name)
{
    struct label label = {0};
    size_t len = name.len < sizeof label.text - 1 ? name.len : sizeof label.text - 1;
    memset(label.text, '?', len);
    for (size_t i = 0; i < len; i++) {
        if (name.ptr[i] >= 0x20 && name.ptr[i] < 0x7F) {
            memcpy(&label.text[i], &name.ptr[i], 1);
        }
    }
    return label;
}

bool decode_blame(struct error *err, size_t index, const struct column *column)
{
    if (column->name.len == 0 && column->family.len == 0) {
        return error_prefix(err, "column %zu", index);
    }
    const char *dot = column->family.len > 0 ? "." : "";
    return error_prefix(err, "column %zu (%s%s%s)", index, label_of(column->family).text, dot,
                        label_of(column->name).text);
}

/* Of the bits from `at` on, a multiple of 8. Up to 7 bytes behind them are read. */
static size_t ones_of(const uint8_t *bits, size_t at, size_t end)
{
    size_t ones = 0;
    for (; at + 64 <= end; at += 64) {
        ones += (size_t)__builtin_popcountll(wire_load64(bits + at / 8));
    }
    if (at < end) {
        const uint64_t mask = (UINT64_C(1) << (end - at)) - 1;
        ones += (size_t)__builtin_popcountll(wire_load64(bits + at / 8) & mask);
    }
    return ones;
}

bool decode_count(struct decode *decode, size_t count, size_t *left)
{
    const size_t end =
        decode->done + progress_share(count - decode->done, DECODE_BITS_A_STEP, left);
    decode->ones += ones_of(decode->bits, decode->done, end);
    decode->done = end;
    return end == count;
}
