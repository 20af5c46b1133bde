//! What answers cost and how that is said.

use super::*;

fn usage(input: u64, cached: u64, cache_write: u64, output: u64, reasoning: u64) -> Usage {
    Usage {
        input,
        cached,
        cache_write,
        output,
        reasoning,
    }
}

#[test]
fn each_part_has_its_price_and_the_cache_costs_as_reading_where_nothing_else_is_said() {
    let price = Price {
        input: 3.0,
        output: 15.0,
        cache_read: Some(0.3),
        cache_write: Some(3.75),
    };
    let all = usage(1_000_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000);
    let cost = Rates::from(price.clone()).cost(&all);
    assert!(
        (cost - (3.0 + 0.3 + 3.75 + 15.0 + 15.0)).abs() < 1e-9,
        "{cost}"
    );
    let plain = Price {
        cache_read: None,
        cache_write: None,
        ..price
    };
    let cost = Rates::from(plain).cost(&all);
    assert!((cost - (9.0 + 30.0)).abs() < 1e-9, "{cost}");
}

#[test]
fn an_answer_that_reads_much_costs_what_the_vendor_takes_for_it_and_others_do_not() {
    let rates = Rates {
        base: Price {
            input: 2.0,
            ..Price::default()
        },
        above: vec![(
            272_000,
            Price {
                input: 4.0,
                ..Price::default()
            },
        )],
    };
    let mut tally = Tally::default();
    tally.add("p/m", usage(200_000, 72_000, 0, 0, 0));
    tally.add("p/m", usage(272_001, 0, 0, 0, 0));
    let bill = tally.bill(|_| Some(rates.clone()));
    let expected = 0.272 * 2.0 + 0.272_001 * 4.0;
    assert!((bill.total.unwrap() - expected).abs() < 1e-9, "{bill:?}");
}

#[test]
fn a_model_without_a_price_is_named_and_left_out_of_the_total() {
    let mut tally = Tally::default();
    tally.add("a/known", usage(1_000_000, 5, 0, 10, 2));
    tally.add("b/unknown", usage(7, 0, 0, 1, 0));
    tally.add("b/unknown", usage(8, 0, 3, 1, 0));
    let price = Price {
        input: 1.0,
        ..Price::default()
    };
    let bill = tally.bill(|it| (it == "a/known").then(|| price.clone().into()));
    expect_test::expect![[r#"
        a/known: 1 answer, 1000000 read, 5 from the cache, 10 written, 2 thought: $1.00
        b/unknown: 2 answers, 15 read, 3 into the cache, 2 written: price not known
        $1.00 in all, without b/unknown, whose price is not known; set it under [pricing.models] in config.toml."#]]
    .assert_eq(&bill.text());
    assert_eq!(tally.bill(|_| None).total, None);
    assert_eq!(tally.bill(|_| Some(Rates::free())).total, Some(0.0));
}

#[test]
fn under_a_cent_there_are_four_decimals() {
    let shown = [0.0, 0.000_04, 0.0042, 0.009_99, 0.01, 1.239, 1234.5].map(dollars);
    assert_eq!(
        shown,
        [
            "$0.00", "$0.0000", "$0.0042", "$0.0100", "$0.01", "$1.24", "$1234.50"
        ]
    );
}

#[test]
fn an_answers_tokens_come_back_from_the_log_as_they_were() {
    let tokens = usage(1, 2, 3, 4, 5);
    let record = record("p/m", Purpose::Classifier, &tokens);
    assert_eq!(
        of_record(&record),
        Some(("p/m", Purpose::Classifier, tokens))
    );
}
