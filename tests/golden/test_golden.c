// SPDX-License-Identifier: Apache-2.0
/*
 * Recorded frames: each good one decodes to what its .json says, each broken one is refused, every
 * truncation is refused. Walks the samples beside this file (BYDB_GOLDEN), and, where there are any
 * (tests/support/shared.h), the frames of an independent encoder (golden/frame-v4) and the answers
 * that data nodes of BanyanDB 0.11 gave (recorded).
 */
#include "frame/decode.h"
#include "frame/envelope.h"
#include "liaison/dump.h"
#include "tests/support/frame_builder.h"
#include "tests/support/frame_test.h"
#include "tests/support/shared.h"
#include "tests/unit/frame/unit.h"

#include <ftw.h>
#include <unistd.h>

#define BOTH          (DECODE_V3 | DECODE_V4)
#define TRUNCATED_MAX 16384 /* longer frames are cut at every 97th byte only */

static struct error err;

static void path_of(char *into, const char *folder, const char *name)
{
    int len = snprintf(into, 1024, "%s/%s", folder, name);
    ck_assert(len > 0 && len < 1024);
}

/* Bytes of a file, to be freed by the caller. */
static uint8_t *read_file(const char *path, size_t *len_out)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be read", path);
    size_t capacity = 4096;
    uint8_t *bytes = malloc(capacity);
    size_t len = 0;
    size_t count;
    while ((count = fread(bytes + len, 1, capacity - len, file)) > 0) {
        len += count;
        if (len == capacity) {
            capacity *= 2;
            bytes = realloc(bytes, capacity);
        }
    }
    fclose(file);
    *len_out = len;
    return bytes;
}

static bool decode_placed(struct slice bytes, size_t shift)
{
    struct placed placed = place_bytes(bytes, shift);
    struct test_room room;
    struct view view;
    test_room_init(&room);
    bool good = decode_view(placed.bytes, BOTH, &room.room, &view, &err);
    if (good) {
        (void)view_read_all(&view);
    }
    test_room_fini(&room);
    free(placed.block);
    return good;
}

static void check_truncations(struct slice frame, const char *path)
{
    size_t step = frame.len <= TRUNCATED_MAX ? 1 : 97;
    for (size_t len = 0; len < frame.len; len += step) {
        ck_assert_msg(!decode_placed(slice_of(frame.ptr, len), 0), "%s cut to %zu", path, len);
    }
}

/* Parsed JSON that is the same for this purpose. */
static void check_json(const struct view *view, const char *path)
{
    json_error_t why;
    json_t *expected = json_load_file(path, JSON_ALLOW_NUL, &why);
    ck_assert_msg(expected != NULL, "%s: %s", path, why.text);
    json_t *found = dump_json(view);
    ck_assert_msg(json_equal(expected, found), "%s differs", path);
    json_decref(found);
    json_decref(expected);
}

static void check_good(const char *path)
{
    size_t len;
    uint8_t *bytes = read_file(path, &len);
    struct placed placed = place_bytes(slice_of(bytes, len), 0);
    struct test_room room;
    struct view view;
    test_room_init(&room);
    ck_assert_msg(decode_view(placed.bytes, BOTH, &room.room, &view, &err), "%s: %s", path,
                  err.text);
    (void)view_read_all(&view);
    char json[1024];
    path_of(json, "", path);
    memcpy(json + strlen(json) - 4, ".json", 6);
    check_json(&view, json + 1);
    test_room_fini(&room);
    free(placed.block);
    check_truncations(slice_of(bytes, len), path);
    free(bytes);
}

static json_t *reasons;

static void check_broken(const char *path)
{
    size_t len;
    uint8_t *bytes = read_file(path, &len);
    for (size_t shift = 0; shift < 3; shift++) {
        err = (struct error){0};
        ck_assert_msg(!decode_placed(slice_of(bytes, len), shift), "%s is not refused", path);
        ck_assert(err.text[0] != '\0');
    }
    free(bytes);
}

/* Our own broken samples must also be refused in these words. */
static void check_reason(const char *path)
{
    check_broken(path);
    char name[256];
    const char *stem = strrchr(path, '/') + 1;
    (void)snprintf(name, sizeof name, "%.*s", (int)(strlen(stem) - 4), stem);
    const char *reason = json_string_value(json_object_get(reasons, name));
    ck_assert_msg(reason != NULL, "reasons.json does not name %s", name);
    ck_assert_msg(strstr(err.text, reason) != NULL, "%s: \"%s\", not \"%s\"", name, err.text,
                  reason);
}

/* An InternalQueryResponse's frame, or a body that is one; other bodies hold none. */
static struct slice frame_of_body(struct slice body)
{
    struct answer answer;
    return envelope_answer(body, &answer, NULL) ? answer.frame : (struct slice){0};
}

static size_t recorded_frames;

/* A view, encoded as version 4, shows the same cells again. */
static void check_same_as_v4(const struct view *view, const char *path)
{
    struct frame_builder *builder = frame_builder_new(view->row_count);
    frame_builder_view(builder, view);
    size_t len;
    uint8_t *bytes = frame_builder_encode(builder, 4, &len);
    struct test_room room;
    struct view again;
    test_room_init(&room);
    ck_assert_msg(decode_view(slice_of(bytes, len), DECODE_V4, &room.room, &again, &err), "%s: %s",
                  path, err.text);
    const char *difference = view_difference(view, &again);
    ck_assert_msg(difference == NULL, "%s as version 4: %s differs", path, difference);
    test_room_fini(&room);
    free(bytes);
    frame_builder_free(&builder);
}

static void check_recorded(const char *path)
{
    size_t len;
    uint8_t *bytes = read_file(path, &len);
    struct slice frame = frame_of_body(slice_of(bytes, len));
    if (frame.len == 0) {
        free(bytes);
        return;
    }
    recorded_frames++;
    struct placed placed = place_bytes(frame, recorded_frames % 8);
    struct test_room room;
    struct view view;
    test_room_init(&room);
    ck_assert_msg(decode_view(placed.bytes, DECODE_V3, &room.room, &view, &err), "%s: %s", path,
                  err.text);
    check_same_as_v4(&view, path);
    check_truncations(frame, path);
    test_room_fini(&room);
    free(placed.block);
    free(bytes);
}

/* nftw gives no way to pass anything along. */
static const char *walk_ending;
static void (*walk_check)(const char *path);
static size_t walk_count;

static int on_file(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)where;
    size_t len = strlen(path);
    size_t ending = strlen(walk_ending);
    if (kind == FTW_F && len > ending && strcmp(path + len - ending, walk_ending) == 0) {
        walk_count++;
        walk_check(path);
    }
    return 0;
}

/* How many files of this ending were checked; at least one. */
static size_t walk(const char *folder, const char *name, const char *ending,
                   void (*check)(const char *path))
{
    char path[1024];
    path_of(path, folder, name);
    walk_ending = ending;
    walk_check = check;
    walk_count = 0;
    ck_assert_msg(nftw(path, on_file, 16, FTW_PHYS) == 0, "%s cannot be walked", path);
    ck_assert_msg(walk_count > 0, "%s holds no %s", path, ending);
    return walk_count;
}

START_TEST(own_samples)
{
    const char *folder = getenv("BYDB_GOLDEN");
    ck_assert_msg(folder != NULL,
                  "BYDB_GOLDEN: expected the path of tests/golden, as meson sets it");
    size_t good = walk(folder, "good", ".bin", check_good);
    char path[1024];
    path_of(path, folder, "broken/reasons.json");
    reasons = json_load_file(path, 0, NULL);
    ck_assert_ptr_nonnull(reasons);
    size_t broken = walk(folder, "broken", ".bin", check_reason);
    ck_assert_uint_eq(broken, json_object_size(reasons));
    json_decref(reasons);
    printf("note: %zu good and %zu broken samples\n", good, broken);
}
END_TEST

START_TEST(independent_encoder)
{
    const char *folder = shared_folder("golden");
    if (folder == NULL) {
        return;
    }
    size_t good = walk(folder, "golden/frame-v4/good", ".bin", check_good);
    size_t broken = walk(folder, "golden/frame-v4/broken", ".bin", check_broken);
    printf("note: %zu good and %zu broken frames of the independent encoder\n", good, broken);
}
END_TEST

START_TEST(recorded_answers)
{
    const char *folder = shared_folder("recorded");
    if (folder == NULL) {
        return;
    }
    recorded_frames = 0;
    size_t bodies = walk(folder, "recorded", ".body.bin", check_recorded);
    ck_assert_uint_gt(recorded_frames, 0);
    printf("note: %zu recorded frames of version 3 in %zu bodies\n", recorded_frames, bodies);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("golden");
    TCase *tcase = tcase_create("golden");
    tcase_set_timeout(tcase, 280);
    tcase_add_test(tcase, own_samples);
    tcase_add_test(tcase, independent_encoder);
    tcase_add_test(tcase, recorded_answers);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
