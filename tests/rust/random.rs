//! The random streams, draw for draw against NumPy and against Rust's rand and rand_distr.

use glassformer::num::random::{Choice, Position, RandomStream};
use glassformer_tests::{stream_digest, STREAM_DIGESTS};
use rand::distributions::{Distribution, Uniform, WeightedIndex};
use rand::{Rng, RngCore, SeedableRng};
use rand_distr::StandardNormal;
use serde_json::Value;

fn golden() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../golden/numpy/streams.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Every stream of the file, by its seed.
fn streams(golden: &Value) -> Vec<(u64, &Value)> {
    let all = golden.as_object().unwrap().iter().filter(|(name, _)| name.starts_with("seed "));
    all.map(|(_, stream)| (stream["seed"].as_str().unwrap().parse().unwrap(), stream)).collect()
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn whole(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

/// Distance in units of the last place.
fn ulps(a: f64, b: f64) -> u64 {
    a.to_bits().abs_diff(b.to_bits())
}

#[test]
fn numpys_raw_words_come_out() {
    let golden = golden();
    assert!(streams(&golden).len() >= 5);
    for (seed, stream) in streams(&golden) {
        let mut rng = RandomStream::numpy(seed);
        for word in stream["raw_uint64_x4"].as_array().unwrap() {
            assert_eq!(rng.next_u64(), word.as_str().unwrap().parse::<u64>().unwrap(), "seed {seed}");
        }
    }
}

#[test]
fn numpys_normals_and_uniforms_come_out_to_the_bit() {
    let golden = golden();
    for (seed, stream) in streams(&golden) {
        let mut rng = RandomStream::numpy(seed);
        for want in floats(&stream["normal"]) {
            assert_eq!(rng.normal().to_bits(), want.to_bits(), "seed {seed}: {want}");
        }
        let mut rng = RandomStream::numpy(seed);
        for want in floats(&stream["random"]) {
            assert_eq!(rng.random().to_bits(), want.to_bits(), "seed {seed}: {want}");
        }
    }
}

#[test]
fn numpys_tail_stands_where_it_stood_within_an_ulp() {
    let golden = golden();
    let mut seen = 0;
    for (seed, stream) in streams(&golden) {
        let positions = stream["tail_positions_in_first_20000_normals"].as_array().unwrap();
        let values = floats(&stream["tail_values"]);
        let mut rng = RandomStream::numpy(seed);
        let draws: Vec<f64> = (0..20_000).map(|_| rng.normal()).collect();
        // The file lists the first four of them.
        let tail =
            draws.iter().enumerate().filter(|(_, x)| x.abs() > 3.654152885361009).take(positions.len());
        for ((at, &got), (position, want)) in tail.zip(positions.iter().zip(values)) {
            assert_eq!(at as u64, position.as_u64().unwrap(), "seed {seed}");
            assert!(ulps(got, want) <= 1, "seed {seed}: {got} and not {want}");
            seen += 1;
        }
        assert!(ulps(draws[19_999], stream["normal_19999"].as_f64().unwrap()) <= 1, "seed {seed}");
        if let Some(sum) = stream["sum_of_first_20000_normals"].as_f64() {
            let got: f64 = draws.iter().sum();
            assert!((got - sum).abs() <= 1e-12 * sum.abs().max(1.0), "seed {seed}: {got} and not {sum}");
        }
    }
    assert_eq!(seen, 4 * streams(&golden).len());
}

#[test]
fn numpys_streams_of_large_seeds_come_out_to_the_bit() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../golden/numpy/large_seeds.json");
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let streams = golden["streams"].as_array().unwrap();
    assert_eq!(streams.len(), 4);
    for stream in streams {
        let seed: u64 = stream["seed"].as_str().unwrap().parse().unwrap();
        let fresh = || RandomStream::numpy(seed);
        let mut rng = fresh();
        for word in stream["raw_uint64_x4"].as_array().unwrap() {
            assert_eq!(rng.next_u64().to_string(), word.as_str().unwrap());
        }
        let mut rng = fresh();
        let normals: Vec<f64> = (0..20_000).map(|_| rng.normal()).collect();
        let want = floats(&stream["normal"]);
        assert_eq!(normals[..want.len()], want);
        assert_eq!(normals[19_999], stream["normal_19999"].as_f64().unwrap());
        let mut rng = fresh();
        assert!(floats(&stream["random"]).iter().all(|x| rng.random() == *x));
        let mut rng = fresh();
        for x in stream["integers_0_1000"].as_array().unwrap() {
            assert_eq!(rng.integers(0, 1000).unwrap(), whole(x));
        }
    }
}

#[test]
fn numpys_integers_and_choices_come_out() {
    let golden = golden();
    let p = floats(&golden["p"]);
    for (seed, stream) in streams(&golden) {
        for (key, high) in [("integers_0_1000", 1000), ("integers_0_2p40", 1 << 40)] {
            let mut rng = RandomStream::numpy(seed);
            for want in stream[key].as_array().unwrap() {
                assert_eq!(rng.integers(0, high).unwrap(), whole(want), "seed {seed} {key}");
            }
        }
        let mut rng = RandomStream::numpy(seed);
        for want in stream["choice_7_p"].as_array().unwrap() {
            assert_eq!(rng.choice(&p).unwrap() as i64, whole(want), "seed {seed}");
        }
    }
}

#[test]
fn calls_that_share_one_generator_share_its_half_words() {
    let golden = golden();
    let p = floats(&golden["p"]);
    for (seed, stream) in streams(&golden) {
        let mut rng = RandomStream::numpy(seed);
        for call in stream["mixed"].as_array().unwrap() {
            let got = match call[0].as_str().unwrap() {
                "integers(0, 1000)" => rng.integers(0, 1000).unwrap() as f64,
                "integers(0, 10)" => rng.integers(0, 10).unwrap() as f64,
                "normal()" => rng.normal(),
                "normal(2, 3)" => 2.0 + 3.0 * rng.normal(),
                "random()" => rng.random(),
                "choice(7, p=p)" => rng.choice(&p).unwrap() as f64,
                other => panic!("{other} is not known here"),
            };
            assert_eq!(got.to_bits(), call[1].as_f64().unwrap().to_bits(), "seed {seed} {call}");
        }
    }
}

#[test]
fn the_lessons_words_of_rand_come_out() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../golden/lessons/rustlab_block.json");
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let words = golden["seed13_next_u64"].as_array().unwrap();
    assert!(!words.is_empty());
    let mut stream = RandomStream::rand(13);
    for word in words {
        let want = word.as_str().map_or_else(|| word.as_u64().unwrap(), |text| text.parse().unwrap());
        assert_eq!(stream.next_u64(), want);
    }
}

#[test]
fn rands_words_and_floats_come_out_to_the_bit() {
    for seed in [0, 13, 14, 1300, u64::MAX] {
        let mut ours = RandomStream::rand(seed);
        let mut theirs = rand::rngs::StdRng::seed_from_u64(seed);
        for _ in 0..1000 {
            assert_eq!(ours.next_u64(), theirs.next_u64());
            assert_eq!(ours.random().to_bits(), theirs.gen::<f64>().to_bits());
        }
    }
}

#[test]
fn a_million_rand_distr_normals_come_out_to_the_bit_and_tails_within_an_ulp() {
    for seed in [0, 13, u64::MAX] {
        let mut ours = RandomStream::rand(seed);
        let mut theirs = rand::rngs::StdRng::seed_from_u64(seed);
        for i in 0..1_000_000 {
            let (got, want): (f64, f64) = (ours.normal(), StandardNormal.sample(&mut theirs));
            let allowed = u64::from(want.abs() > 3.654152885361008);
            assert!(ulps(got, want) <= allowed, "seed {seed}, draw {i}: {got} and not {want}");
        }
    }
}

#[test]
fn rands_integers_and_weighted_choices_come_out() {
    let weights = [0.05, 0.1, 0.15, 0.2, 0.25, 0.2, 0.05];
    let (choice, index) = (Choice::new(&weights).unwrap(), WeightedIndex::new(weights).unwrap());
    let mut ours = RandomStream::rand(13);
    let mut theirs = rand::rngs::StdRng::seed_from_u64(13);
    for i in 0..10_000_i64 {
        assert_eq!(ours.integers(-5, 1 + i).unwrap(), theirs.gen_range(-5..1 + i));
        assert_eq!(ours.integers(i64::MIN, i64::MAX - i).unwrap(), theirs.gen_range(i64::MIN..i64::MAX - i));
        assert_eq!(ours.choose(&choice), index.sample(&mut theirs));
        // Keeps the two generators side by side if one of them ever drew more.
        assert_eq!(ours.next_u64(), theirs.next_u64());
    }
    let _ = Uniform::new(0.0, 1.0).sample(&mut theirs);
}

#[test]
fn a_stream_goes_on_from_its_position() {
    for kind in ["numpy", "rand"] {
        let mut stream = RandomStream::at(kind, 7, Position::default()).unwrap();
        for i in 0..100 {
            // A half word may wait while whole words are drawn.
            let _ = stream.integers(0, 1000).unwrap();
            let _ = (0..i % 3).map(|_| stream.normal()).sum::<f64>();
            let mut copy = RandomStream::at(kind, 7, stream.position()).unwrap();
            assert_eq!(copy.integers(0, 77).unwrap(), stream.clone().integers(0, 77).unwrap());
            assert_eq!(copy.normal().to_bits(), {
                let mut original = stream.clone();
                let _ = original.integers(0, 77).unwrap();
                original.normal().to_bits()
            });
        }
    }
}

#[test]
fn bad_arguments_are_refused_and_draw_nothing() {
    let mut stream = RandomStream::numpy(7);
    let before = stream.position();
    assert_eq!(stream.integers(5, 5).unwrap_err().code(), "invalid_option");
    for p in [&[0.5, 0.6][..], &[f64::NAN, 1.0], &[-0.5, 1.5], &[]] {
        assert_eq!(stream.choice(p).unwrap_err().code(), "invalid_option");
    }
    assert_eq!(stream.position(), before);
}

#[test]
fn the_streams_have_their_digests() {
    for (kind, want) in STREAM_DIGESTS {
        assert_eq!(stream_digest(kind), want, "{kind}");
    }
}
