#!/usr/bin/env node
// Writes numpy_tables.rs and rand_tables.rs in crate/core/src/num/random; with --check, only compares them.
//
// The tables of the 256-layer ziggurat for the normal distribution (Marsaglia & Tsang 2000). Exponential and
// logarithm are computed in fixed-point arithmetic of 192 binary digits.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const DIGITS = 192n;
const ONE = 1n << DIGITS;
const LAYERS = 256;

const mul = (a, b) => (a * b) >> DIGITS;
const div = (a, b) => (a << DIGITS) / b;

/** e^x for x <= 0: halved eight times, a Taylor series, squared eight times. */
function exp(x) {
  const small = x >> 8n;
  let term = ONE;
  let sum = ONE;
  for (let n = 1n; term !== 0n && term !== -1n; n++) {
    term = mul(term, small) / n;
    sum += term;
  }
  for (let i = 0; i < 8; i++) sum = mul(sum, sum);
  return sum;
}

/** ln y for 0 < y <= 1, by Halley's iteration from the float64 logarithm. */
function ln(y) {
  let z = BigInt(Math.round(Math.log(toNumber(y)) * 2 ** 50)) << (DIGITS - 50n);
  for (let i = 0; i < 5; i++) {
    const e = exp(z);
    z += div(2n * (y - e), y + e);
  }
  return z;
}

/** The nearest float64. */
function toNumber(x) {
  return Number(x) * 2 ** -Number(DIGITS);
}

function fromNumber(x) {
  return BigInt(x * 2 ** 80) << (DIGITS - 80n);
}

const expOf = (x) => toNumber(exp(fromNumber(x)));
const lnOf = (x) => toNumber(ln(fromNumber(x)));

/**
 * The layers from the widest down: x[0] is the width that a layer's area has at the height of the tail, x[1]
 * where the tail begins, x[256] = 0; f the density e^(-x^2/2) at each.
 *
 * Neither library's table is the equation's own value, rounded: both were computed layer by layer in float64,
 * and each layer inherits the last one's rounding. Draws equal theirs only with the same roundings, so every
 * step here is one of float64, with exponential and logarithm rounded once from their exact values.
 */
function layers(r, area, densities = {}) {
  const density = (x, i) => densities[i] ?? expOf(-0.5 * x * x);
  const x = [area / density(r), r];
  const f = [density(x[0]), density(r)];
  for (let i = 2; i < LAYERS; i++) {
    x.push(Math.sqrt(-2 * lnOf(area / x[i - 1] + f[i - 1])));
    f.push(density(x[i], i));
  }
  return { x: [...x, 0], f: [...f, 1] };
}

/** Where the tail begins, the same in both libraries. */
const R = 3.6541528853610088;

/**
 * NumPy's. Its density of layer 218 lies 0.498 units above a float64 and was rounded up by whatever library
 * computed it; with that one value, all layers that follow are NumPy's.
 */
const numpy = layers(R, 0.004928673233974652, { 218: nextUp(218) });

function nextUp(layer) {
  const below = layers(R, 0.004928673233974652).f[layer];
  return below + 2 ** (Math.floor(Math.log2(below)) - 52);
}

/** Of 2^52, the part of each layer that lies under the next one; of the base, the part before the tail. */
const numpyUnder = numpy.x
  .slice(0, -1)
  .map((width, i) =>
    BigInt(
      Math.trunc((i === 0 ? (R * numpy.f[1]) / 0.004928673233974652 : numpy.x[i + 1] / width) * 2 ** 52),
    ),
  );

/** rand_distr's, from an area of twelve digits, and published with 18 decimals. */
const published = (values) => values.map((v) => Number(v.toFixed(18)));
const rand = layers(R, 0.00492867323399);

function rust(title, tables) {
  const lines = [
    `//! ${title} Written by scripts/ziggurat.mjs.`,
    "",
    "#![allow(clippy::excessive_precision)]",
  ];
  for (const [doc, name, type, values] of tables) {
    lines.push(
      "",
      `/// ${doc}`,
      "#[rustfmt::skip]",
      `pub(super) const ${name}: [${type}; ${values.length}] = [`,
    );
    const words = values.map((v) => (Number.isInteger(v) && type === "f64" ? `${v}.0` : String(v)));
    for (let i = 0; i < words.length; i += 4) lines.push(`    ${words.slice(i, i + 4).join(", ")},`);
    lines.push("];");
  }
  return `${lines.join("\n")}\n`;
}

const EDGES =
  "The right edge of each layer; the first is the width that the base layer's area has, the last 0.";
const DENSITIES = "The density at each edge.";
const UNDER = "Of 2^52, the part of each layer that lies under the next one.";

const files = {
  "numpy_tables.rs": rust("The ziggurat of NumPy's normal distribution, widest layer first.", [
    [EDGES, "X", "f64", numpy.x],
    [DENSITIES, "F", "f64", numpy.f],
    [UNDER, "K", "u64", numpyUnder],
  ]),
  "rand_tables.rs": rust("The ziggurat of rand_distr 0.4's normal distribution, widest layer first.", [
    [EDGES, "X", "f64", published(rand.x)],
    [DENSITIES, "F", "f64", published(rand.f)],
  ]),
};
for (const [name, text] of Object.entries(files)) {
  const file = fileURLToPath(new URL(`../crate/core/src/num/random/${name}`, import.meta.url));
  if (!process.argv.includes("--check")) {
    writeFileSync(file, text);
  } else if (readFileSync(file, "utf8") !== text) {
    console.error(`${name} is not what scripts/ziggurat.mjs writes; run it without --check`);
    process.exitCode = 1;
  } else {
    console.log(`${name} is as the generator writes it`);
  }
}
