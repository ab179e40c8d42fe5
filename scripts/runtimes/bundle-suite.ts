import { globSync } from "node:fs";
import { rolldown } from "rolldown";
import { library, publicEntries, root } from "../public-entries.ts";

/** Patterns of the test files that run on every runtime, below the library. */
const suites = ["src/{core,engine,expressions}/**/*.test.ts", "test/{core,engine,expressions}/**/*.test.ts"];

/** Test files that are left out on every runtime, each with the reason. */
export const leftOut: Readonly<Record<string, string>> = {
  "src/expressions/load-functions.test.ts": "it loads modules anew, which only vitest can",
};

/** Test files that are left out in workerd only, each with the reason. */
export const leftOutInWorkerd: Readonly<Record<string, string>> = {
  "test/core/values/other-realms.test.ts": "a worker cannot make another realm",
  "test/expressions/javascript.test.ts": "it compares with `eval`, which a worker does not have",
};

/** Returns the test files that run on a runtime, below the library. */
export function suiteFiles(isWorkerd: boolean): readonly string[] {
  const out = { ...leftOut, ...(isWorkerd && leftOutInWorkerd) };
  const files = globSync(suites, { cwd: library }).map((file) => file.replaceAll("\\", "/"));
  for (const file of Object.keys(out)) if (!files.includes(file)) throw new RangeError(`${file} is left out, and is not there`);
  return files.filter((file) => !Object.hasOwn(out, file)).sort();
}

const entry = "\0entry";

/**
 * Bundles the tests into one JavaScript module, which exports `run`. A file is loaded only when its turn comes, because a worker must
 * not do I/O or create random values before its first request.
 */
export async function bundleSuite(files: readonly string[]): Promise<string> {
  const loads = files.map((file) => `${JSON.stringify(file)}: () => import(${JSON.stringify(`${library}/${file}`)})`);
  const code = `
    import { runFiles } from ${JSON.stringify(`${root}/scripts/runtimes/vitest-anywhere.ts`)};
    import ${JSON.stringify(`${root}/scripts/test/seed.ts`)};
    export const run = () => runFiles({ ${loads.join(",\n")} });`;
  const names = publicEntries().map(({ name, source }) => [`${name}$`, `${library}/${source.slice(2)}`] as const);
  const bundle = await rolldown({
    input: entry,
    platform: "neutral",
    external: [/^node:/],
    resolve: {
      mainFields: ["module", "main"],
      alias: { ...Object.fromEntries(names), vitest: `${root}/scripts/runtimes/vitest-anywhere.ts` },
    },
    plugins: [{ name: "entry", resolveId: (id) => (id === entry ? id : null), load: (id) => (id === entry ? code : null) }],
  });
  // not every runtime has a `process`; with the effort `quick`, properties are tried with a fifth of the cases
  const intro = 'globalThis.process ??= { env: {} }; globalThis.process.env.STEPFOLD_EFFORT ??= "quick";';
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false, intro });
  return output[0].code;
}
