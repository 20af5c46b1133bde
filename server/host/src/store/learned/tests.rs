//! What is kept of models' refusals: for how long, beside other servers, and when the file is damaged.

use super::*;
use engine::provider::Refusal;

const DAY: u64 = 24 * 60 * 60 * 1000;

fn key(model: &str) -> ModelKey {
    ModelKey {
        base_url: "http://127.0.0.1:1/v1".into(),
        model: model.into(),
    }
}

fn at(day: u64) -> Term {
    Term {
        now: day * DAY,
        days: 30,
    }
}

fn without(feature: Feature) -> Learned {
    let mut learned = Learned::default();
    learned.learn(Refusal::Drop(feature), None);
    learned
}

fn known(path: &Path, model: &str, term: Term) -> Learned {
    let (learned, fault) = LearnedModels::new(path.parent().unwrap()).of(&key(model), term);
    assert_eq!(fault, None);
    learned
}

#[test]
fn what_was_learned_is_known_for_thirty_days_by_model_and_address() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data").join(NAME);
    let mut learned = without(Feature::Temperature);
    learned.levels.insert(Reasoning::Max);
    learned.max_tokens = Some(4096);
    keep(&path, &key("m"), &learned, at(100)).unwrap();
    assert_eq!(known(&path, "m", at(129)), learned);
    assert_eq!(known(&path, "m", at(130)), Learned::default());
    assert_eq!(known(&path, "n", at(100)), Learned::default());
    // What is learned anew later counts from then on, and what has ended is dropped.
    keep(&path, &key("m"), &without(Feature::CacheKey), at(131)).unwrap();
    assert_eq!(known(&path, "m", at(131)), without(Feature::CacheKey));
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("temperature"), "{text}");
}

#[test]
fn what_a_person_wrote_into_it_is_taken_as_far_as_it_makes_sense() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    let entry = serde_json::json!({
        "base_url": "http://127.0.0.1:1/v1", "model": "m",
        "refused": {"temperature": u64::MAX, "gravity": 1}, "levels": {"utmost": u64::MAX, "max": u64::MAX},
        "max_tokens": {"tokens": 0, "time": u64::MAX}, "note": [1, null],
    });
    let book = serde_json::json!({"models": [entry], "mine": "x"});
    fs::write(&path, book.to_string()).unwrap();
    let mut expected = without(Feature::Temperature);
    expected.levels.insert(Reasoning::Max);
    assert_eq!(known(&path, "m", at(1)), expected);
    keep(&path, &key("m"), &without(Feature::CacheKey), at(1)).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("mine") && text.contains("note"), "{text}");
}

#[test]
fn many_servers_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    std::thread::scope(|scope| {
        for feature in Feature::ALL {
            let path = &path;
            scope.spawn(move || keep(path, &key("m"), &without(*feature), at(1)).unwrap());
        }
    });
    let all: Vec<Feature> = known(&path, "m", at(1)).refused.into_iter().collect();
    assert_eq!(all, Feature::ALL);
}

#[test]
fn a_damaged_file_is_named_and_left_as_it_is_and_what_is_learned_counts_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    fs::write(&path, "{\"models\": [{]}").unwrap();
    let mut models = LearnedModels::new(folder.path());
    let (learned, fault) = models.of(&key("m"), at(1));
    assert_eq!(learned, Learned::default());
    assert!(fault.unwrap().contains("is damaged"));
    assert!(keep(&path, &key("m"), &without(Feature::Bash), at(1)).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"models\": [{]}");
    models.take_in(&key("m"), &without(Feature::Bash), at(1));
    assert_eq!(models.of(&key("m"), at(1)).0, without(Feature::Bash));
    assert_eq!(models.of(&key("m"), at(40)).0, Learned::default());
}

#[test]
fn names_of_a_later_build_stay_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    let text = r#"{"models": [{"base_url": "http://127.0.0.1:1/v1", "model": "m",
        "refused": {"telepathy": 86400000, "bash": 86400000}, "shape": 1}], "later": true}"#;
    fs::write(&path, text).unwrap();
    assert_eq!(known(&path, "m", at(2)), without(Feature::Bash));
    keep(&path, &key("m"), &without(Feature::CacheKey), at(2)).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    for name in ["telepathy", "shape", "later", "cache_key", "bash"] {
        assert!(text.contains(name), "{text}");
    }
}
