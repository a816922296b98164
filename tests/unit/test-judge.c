/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "judge.h"

#define CPUS 100

struct fixture {
        struct config config;
        struct judge judge;
        struct metrics metrics;
        enum condition_id last;
        unsigned raised, cleared;
};

static void count(enum condition_id id, const struct judgement *j, void *userdata)
{
        struct fixture *f = userdata;

        f->last = id;
        if (j->raised)
                f->raised++;
        else
                f->cleared++;
}

static struct fixture *fixture(void)
{
        static struct fixture f;
        struct config_error error = {0};

        f = (struct fixture){0};
        /* The defaults: no configuration below this root. */
        assert_int_equal(config_load("/nonexistent", NULL, NULL, &f.config, &error), 0);
        return &f;
}

static void set(struct fixture *f, enum metric_id id, double value)
{
        f->metrics.metric[id] = (struct metric){.validity = VALIDITY_OK, .value = value};
}

static void times(struct fixture *f, unsigned n)
{
        while (n--)
                judge_update(&f->judge, &f->config, &f->metrics, CPUS, 1, count, f);
}

static void storm_is_raised_and_cleared_after_three_readings(void **state)
{
        struct fixture *f = fixture();
        const struct judgement *j = &f->judge.of[CONDITION_BALANCING_FLUSH_STORM];

        (void)state;
        set(f, METRIC_PAGES_MIGRATED, 1000);
        set(f, METRIC_TLB_PER_MIGRATED, 21); /* of 100 CPUs, the mark is 20 % */
        times(f, 2);
        assert_int_equal(f->raised, 0);
        times(f, 1);
        assert_int_equal(f->raised, 1);
        assert_int_equal(f->last, CONDITION_BALANCING_FLUSH_STORM);
        assert_true(j->known && j->value > 20.9 && j->threshold > 19.9 && j->threshold < 20.1);
        times(f, 10);
        assert_int_equal(f->raised, 1);
        /* Between the marks nothing changes. */
        set(f, METRIC_TLB_PER_MIGRATED, 15);
        times(f, 10);
        assert_int_equal(f->cleared, 0);
        set(f, METRIC_TLB_PER_MIGRATED, 9);
        times(f, 2);
        set(f, METRIC_TLB_PER_MIGRATED, 15);
        times(f, 1);
        set(f, METRIC_TLB_PER_MIGRATED, 9);
        times(f, 2);
        assert_int_equal(f->cleared, 0);
        times(f, 1);
        assert_int_equal(f->cleared, 1);
        config_done(&f->config);
}

static void threshold_follows_the_number_of_cpus(void **state)
{
        struct fixture *f = fixture();

        (void)state;
        set(f, METRIC_PAGES_MIGRATED, 1000);
        set(f, METRIC_TLB_PER_MIGRATED, 21);
        for (unsigned i = 0; i < 10; i++)
                judge_update(&f->judge, &f->config, &f->metrics, 384, 1, count, f);
        assert_int_equal(f->raised, 0);
        config_done(&f->config);
}

static void little_work_is_not_judged(void **state)
{
        struct fixture *f = fixture();

        (void)state;
        set(f, METRIC_PAGES_MIGRATED, 99); /* MinPagesPerSec is 100 */
        set(f, METRIC_TLB_PER_MIGRATED, 90);
        set(f, METRIC_PAGES_RECLAIMED, 5);
        set(f, METRIC_TLB_PER_RECLAIMED, 90);
        set(f, METRIC_DIRECT_SHARE, 1);
        times(f, 10);
        assert_int_equal(f->raised, 0);
        config_done(&f->config);
}

static void unknown_readings_change_nothing(void **state)
{
        struct fixture *f = fixture();

        (void)state;
        set(f, METRIC_PAGES_RECLAIMED, 1000);
        set(f, METRIC_TLB_PER_RECLAIMED, 50);
        times(f, 2);
        f->metrics.metric[METRIC_TLB_PER_RECLAIMED] = (struct metric){.validity = VALIDITY_WRAPPED};
        times(f, 5);
        assert_int_equal(f->raised, 0);
        set(f, METRIC_TLB_PER_RECLAIMED, 50);
        times(f, 1);
        assert_int_equal(f->raised, 1);
        assert_int_equal(f->last, CONDITION_RECLAIM_FLUSH_STORM);
        f->metrics.metric[METRIC_TLB_PER_RECLAIMED] =
                (struct metric){.validity = VALIDITY_PARAVIRT};
        times(f, 20);
        assert_int_equal(f->cleared, 0);
        /* Idle is an answer: there is no storm. */
        f->metrics.metric[METRIC_TLB_PER_RECLAIMED] = (struct metric){.validity = VALIDITY_IDLE};
        times(f, 3);
        assert_int_equal(f->cleared, 1);
        config_done(&f->config);
}

static void flat_low_locality_does_not_converge(void **state)
{
        struct fixture *f = fixture();

        (void)state;
        set(f, METRIC_PAGES_MIGRATED, 1000);
        /* Rising: balancing gets somewhere. */
        for (unsigned i = 0; i < 20; i++) {
                set(f, METRIC_LOCALITY, 0.3 + 0.02 * i);
                times(f, 1);
        }
        assert_int_equal(f->raised, 0);
        set(f, METRIC_LOCALITY, 0.7);
        times(f, 4);
        assert_int_equal(f->raised, 1);
        assert_int_equal(f->last, CONDITION_BALANCING_NOT_CONVERGING);
        /* Flat goes on: still raised, said once. */
        times(f, 20);
        assert_int_equal(f->raised, 1);
        assert_int_equal(f->cleared, 0);
        set(f, METRIC_LOCALITY, 0.95);
        times(f, 3);
        assert_int_equal(f->cleared, 1);
        config_done(&f->config);
}

static void stolen_time_is_no_evidence(void **state)
{
        struct fixture *f = fixture();

        (void)state;
        set(f, METRIC_PAGES_RECLAIMED, 1000);
        set(f, METRIC_DIRECT_SHARE, 0.9);
        set(f, METRIC_STEAL_SHARE, 0.3);
        times(f, 10);
        assert_int_equal(f->raised, 0);
        assert_true(f->judge.stolen);
        set(f, METRIC_STEAL_SHARE, 0.01);
        times(f, 3);
        assert_int_equal(f->raised, 1);
        assert_int_equal(f->last, CONDITION_DIRECT_RECLAIM);
        assert_false(f->judge.stolen);
        config_done(&f->config);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(storm_is_raised_and_cleared_after_three_readings),
                cmocka_unit_test(threshold_follows_the_number_of_cpus),
                cmocka_unit_test(little_work_is_not_judged),
                cmocka_unit_test(unknown_readings_change_nothing),
                cmocka_unit_test(flat_low_locality_does_not_converge),
                cmocka_unit_test(stolen_time_is_no_evidence),
        };

        return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
