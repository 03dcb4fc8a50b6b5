// SPDX-License-Identifier: GPL-2.0-only
/* KTAU: tests of the limits of users, run by KUnit at boot. */
#include <linux/cred.h>
#include <linux/user_namespace.h>

#include "base/memory.h"
#include "base/user.h"
#include "ktau_test.h"

#define LIMIT	((u64)SZ_4M)
#define PIECE	SZ_16K

/* Uids that are not used otherwise. */
static const kuid_t uid_a = KUIDT_INIT(54321);
static const kuid_t uid_b = KUIDT_INIT(54322);
static const kuid_t uid_c = KUIDT_INIT(54323);
static const kuid_t uid_d = KUIDT_INIT(54324);

/* The allocations of one user. */
struct hoard {
	struct ktau_user *user;
	void *piece[LIMIT / PIECE];
	unsigned int nr;
};

static void hoard_take(struct hoard *hoard, unsigned int nr)
{
	void *piece;

	while (nr--) {
		piece = ktau_alloc(hoard->user, PIECE, GFP_KERNEL);
		if (!piece)
			return;
		hoard->piece[hoard->nr++] = piece;
	}
}

static void hoard_drop(struct hoard *hoard)
{
	while (hoard->nr)
		ktau_free(hoard->user, hoard->piece[--hoard->nr], PIECE);
	ktau_user_put(hoard->user);
}

static struct hoard *hoard_of(struct kunit *test, kuid_t uid)
{
	struct hoard *hoard = kunit_kzalloc(test, sizeof(*hoard), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hoard);
	hoard->user = ktau_user_find(uid);
	KUNIT_ASSERT_NOT_NULL(test, hoard->user);
	return hoard;
}

static u64 loss_of(kuid_t uid, enum ktau_loss reason)
{
	u64 losses[KTAU_NR_LOSSES];

	ktau_user_losses(uid, losses);
	return losses[reason];
}

/* Set the limit to LIMIT above the memory in use. */
static u64 limit_set(struct kunit *test)
{
	char words[48];
	u64 limit = ktau_memory_bytes() + LIMIT;

	snprintf(words, sizeof(words), "memory_limit=%llu", limit);
	KUNIT_ASSERT_EQ(test, control(words), 0);
	return limit;
}

static void limit_reset(struct kunit *test, u64 bytes)
{
	char words[48];

	snprintf(words, sizeof(words), "memory_limit=%llu", bytes);
	KUNIT_EXPECT_EQ(test, control(words), 0);
}

/* Whatever one user takes, there is room for another user and for root. */
static void share(struct kunit *test)
{
	struct hoard *a = hoard_of(test, uid_a), *b = hoard_of(test, uid_b);
	u64 before = ktau_config.memory_limit_bytes, in_use = ktau_memory_bytes();
	u64 total = ktau_loss_total(KTAU_LOSS_USER_LIMIT);
	u64 limit = limit_set(test);
	void *piece;

	hoard_take(a, LIMIT / PIECE);
	KUNIT_EXPECT_EQ(test, (u64)a->nr, limit / 4 / PIECE);
	KUNIT_EXPECT_EQ(test, loss_of(uid_a, KTAU_LOSS_USER_LIMIT), 1ULL);
	KUNIT_EXPECT_EQ(test, loss_of(uid_a, KTAU_LOSS_MEMORY_LIMIT), 0ULL);
	KUNIT_EXPECT_EQ(test, loss_of(uid_b, KTAU_LOSS_USER_LIMIT), 0ULL);
	KUNIT_EXPECT_EQ(test, ktau_loss_total(KTAU_LOSS_USER_LIMIT) - total, 1ULL);
	hoard_take(b, 1);
	KUNIT_EXPECT_EQ(test, b->nr, 1U);
	piece = ktau_alloc(&ktau_system, LIMIT / 2, GFP_KERNEL);
	KUNIT_EXPECT_NOT_NULL(test, piece);
	ktau_free(&ktau_system, piece, LIMIT / 2);

	/* Freed memory can be allocated again. */
	ktau_free(a->user, a->piece[--a->nr], PIECE);
	hoard_take(a, 1);
	KUNIT_EXPECT_EQ(test, (u64)a->nr, limit / 4 / PIECE);
	hoard_drop(a);
	hoard_drop(b);
	KUNIT_EXPECT_EQ(test, ktau_memory_bytes(), in_use);
	/* The accounts are gone, with their counters. */
	KUNIT_EXPECT_EQ(test, loss_of(uid_a, KTAU_LOSS_USER_LIMIT), 0ULL);
	limit_reset(test, before);
}

/* Four users that take all they can leave a share to root. */
static void share_of_root(struct kunit *test)
{
	struct hoard *hoard[] = {
		hoard_of(test, uid_a), hoard_of(test, uid_b),
		hoard_of(test, uid_c), hoard_of(test, uid_d),
	};
	u64 before = ktau_config.memory_limit_bytes, limit;
	unsigned int i, nr = 0;

	/* No other user has allocated anything. */
	limit = limit_set(test);
	for (i = 0; i < ARRAY_SIZE(hoard); i++) {
		hoard_take(hoard[i], LIMIT / PIECE);
		nr += hoard[i]->nr;
	}
	KUNIT_EXPECT_GE(test, (u64)nr * PIECE, limit / 2);
	KUNIT_EXPECT_LE(test, (u64)nr * PIECE, limit - limit / 4);
	for (i = 0; i < ARRAY_SIZE(hoard); i++)
		hoard_drop(hoard[i]);
	limit_reset(test, before);
}

/* Chunks come from a reserve charged to the system, and are then charged to the user. */
static void chunks(struct kunit *test)
{
	struct hoard *a = hoard_of(test, uid_a);
	u64 before = ktau_config.memory_limit_bytes;
	struct ktau_chunk *chunk;
	long bytes;

	ktau_reserve_fill();
	limit_set(test);
	hoard_take(a, 1);
	bytes = atomic_long_read(&a->user->bytes);
	local_irq_disable();
	chunk = ktau_chunk_take(a->user);
	local_irq_enable();
	KUNIT_ASSERT_NOT_NULL(test, chunk);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&a->user->bytes) - bytes,
			(long)sizeof(*chunk));
	ktau_chunk_free(a->user, chunk);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&a->user->bytes), bytes);

	limit_reset(test, 1);
	local_irq_disable();
	chunk = ktau_chunk_take(a->user);
	local_irq_enable();
	KUNIT_EXPECT_NULL(test, chunk);
	KUNIT_EXPECT_EQ(test, loss_of(uid_a, KTAU_LOSS_USER_LIMIT), 1ULL);
	KUNIT_EXPECT_EQ(test, loss_of(uid_a, KTAU_LOSS_NO_CHUNK), 1ULL);
	limit_reset(test, before);
	hoard_drop(a);
}

/* A task without capabilities is charged to its user, be it uid 0. */
static void unprivileged_root(struct kunit *test)
{
	struct cred cred = { .user_ns = &init_user_ns, .uid = GLOBAL_ROOT_UID };
	struct ktau_user *root = ktau_user_find(ktau_user_uid(&cred));

	KUNIT_ASSERT_NOT_NULL(test, root);
	KUNIT_EXPECT_PTR_NE(test, root, &ktau_system);
	KUNIT_EXPECT_EQ(test, ktau_user_share(root, 1000), 250ULL);
	ktau_user_put(root);
	cap_raise(cred.cap_permitted, CAP_SYS_RESOURCE);
	KUNIT_EXPECT_FALSE(test, uid_valid(ktau_user_uid(&cred)));
	cred.uid = uid_a;
	root = ktau_user_find(ktau_user_uid(&cred));
	KUNIT_EXPECT_PTR_EQ(test, root, &ktau_system);
	ktau_user_put(root);
}

static kuid_t charged(struct user_namespace *ns, kuid_t uid)
{
	const struct cred cred = { .user_ns = ns, .uid = uid };

	return ktau_user_uid(&cred);
}

/* A user's namespaces are charged to the user, whatever uids they contain. */
static void namespaces(struct kunit *test)
{
	struct user_namespace *ns = kunit_kcalloc(test, 3, sizeof(*ns),
						  GFP_KERNEL);
	struct user_namespace *of_a, *inside, *container;

	if (!IS_ENABLED(CONFIG_USER_NS))
		kunit_skip(test, "needs CONFIG_USER_NS");
	KUNIT_ASSERT_NOT_NULL(test, ns);
	of_a = &ns[0];
	of_a->parent = &init_user_ns;
	of_a->owner = uid_a;
	inside = &ns[1];
	inside->parent = of_a;
	inside->owner = uid_c;
	container = &ns[2];
	container->parent = &init_user_ns;
	container->owner = GLOBAL_ROOT_UID;

	KUNIT_EXPECT_TRUE(test, uid_eq(charged(&init_user_ns, uid_b), uid_b));
	KUNIT_EXPECT_TRUE(test, uid_eq(charged(of_a, uid_b), uid_a));
	KUNIT_EXPECT_TRUE(test, uid_eq(charged(inside, uid_b), uid_a));
	/* A namespace created by root has one account, that of its own root. */
	KUNIT_EXPECT_TRUE(test, uid_eq(charged(container, uid_b), uid_b));
	container->uid_map.nr_extents = 1;
	container->uid_map.extent[0] = (struct uid_gid_extent) {
		.first = 0, .lower_first = __kuid_val(uid_d), .count = 100,
	};
	KUNIT_EXPECT_TRUE(test, uid_eq(charged(container, uid_b), uid_d));
}

/* The number of a user's streams is limited, except with CAP_PERFMON. */
static void streams(struct kunit *test)
{
	struct cred *cred = prepare_kernel_cred(&init_task);
	struct ktau_user *user[65] = { };
	const struct cred *saved;
	unsigned int i, nr = 0;

	KUNIT_ASSERT_NOT_NULL(test, cred);
	cred->uid = uid_a;
	cap_clear(cred->cap_permitted);
	cap_clear(cred->cap_effective);
	saved = override_creds(cred);
	for (i = 0; i < ARRAY_SIZE(user); i++) {
		user[i] = ktau_user_open(PIECE);
		nr += !IS_ERR(user[i]);
	}
	KUNIT_EXPECT_EQ(test, nr, 64U);
	KUNIT_EXPECT_EQ(test, PTR_ERR(user[64]), (long)-EMFILE);
	KUNIT_EXPECT_EQ(test, loss_of(uid_a, KTAU_LOSS_DESCRIPTORS), 1ULL);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&user[0]->bytes), 64L * PIECE);
	cap_raise(cred->cap_effective, CAP_PERFMON);
	user[64] = ktau_user_open(PIECE);
	KUNIT_EXPECT_FALSE(test, IS_ERR(user[64]));
	revert_creds(saved);
	put_cred(cred);
	for (i = 0; i < ARRAY_SIZE(user); i++)
		if (!IS_ERR(user[i]))
			ktau_user_close(user[i], PIECE);
}

static struct kunit_case user_cases[] = {
	KUNIT_CASE(share),
	KUNIT_CASE(share_of_root),
	KUNIT_CASE(chunks),
	KUNIT_CASE(namespaces),
	KUNIT_CASE(unprivileged_root),
	KUNIT_CASE(streams),
	{ }
};

static struct kunit_suite user_suite = {
	.name = "ktau_user",
	.test_cases = user_cases,
};

kunit_test_suite(user_suite);
