// Bundles src/ into src/skliquid/plotting/replay_page/, which is committed.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transformSync } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const OUT = join(HERE, "../../src/skliquid/plotting/replay_page");

/** The SHA-256 of everything the bundle is built from; a test compares it with the sources. */
function digestOfSources() {
  const names = [...readdirSync(join(HERE, "src")).map((name) => `src/${name}`), "build.js", "package-lock.json"];
  const digest = createHash("sha256");
  for (const name of names.sort()) {
    digest.update(`${name}\n`);
    digest.update(readFileSync(join(HERE, name)));
  }
  return digest.digest("hex");
}

const { outputFiles } = await build({
  entryPoints: [join(HERE, "src/main.js")],
  absWorkingDir: HERE,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2020"],
  charset: "ascii",
  legalComments: "none",
  write: false,
});
const style = transformSync(readFileSync(join(HERE, "src/style.css"), "utf8"), { loader: "css", minify: true });

mkdirSync(OUT, { recursive: true });
const banner = `/* sources ${digestOfSources()} */\n`;
writeFileSync(join(OUT, "bundle.js"), banner + outputFiles[0].text);
writeFileSync(join(OUT, "style.css"), style.code);
writeFileSync(join(OUT, "page.html"), readFileSync(join(HERE, "src/page.html")));
