import { relative } from "node:path";
import { type OutputAsset, type OutputChunk, rolldown } from "rolldown";
import { layerOf, layers } from "../architecture/layers.ts";
import { library, publicEntries, root } from "../public-entries.ts";
import { markPure } from "./mark-pure.ts";

/** A package whose code is published as one file per entry, plus chunks that entries share. */
export interface BundledPackage {
  readonly folder: string;
  /**
   * The source of each entry by its output. The output is below `dist` and has no `.js`; the source is below the package's folder:
   * `stores/sqlite/index` is made from `src/stores/sqlite/index.ts`.
   */
  readonly entries: Readonly<Record<string, string>>;
  /** Returns the chunk of a file below `src`, or null if the bundler may choose it. */
  readonly chunkOf: (path: string) => string | null;
  /** Packages whose code becomes a chunk of its own, so that users need not install them. */
  readonly takesIn?: readonly string[];
}

export const bundledPackages: readonly BundledPackage[] = [
  {
    folder: library,
    entries: Object.fromEntries(publicEntries().map(({ code, source }) => [code.slice("./dist/".length, -".js".length), source])),
    chunkOf: partOf,
    takesIn: layers.flatMap(({ takesIn = [] }) => takesIn),
  },
  { folder: `${root}/packages/cli`, entries: { main: "./src/main.ts", index: "./src/index.ts" }, chunkOf: () => null },
  { folder: `${root}/packages/server`, entries: { index: "./src/index.ts", "node/index": "./src/node/index.ts" }, chunkOf: () => null },
  { folder: `${root}/packages/studio`, entries: { index: "./src/index.ts" }, chunkOf: () => null },
];

/** A code file with the names of the chunks that it imports, or a source map. */
export type BundledFile = OutputChunk | OutputAsset;

/**
 * Builds the published files of a package in memory. Comments are left out, because editors read them in the declarations. The code is not
 * minified: for an uncaught error Node.js prints the line of code that threw it, which must be short enough to read, and the names in its
 * stack must be those of the source. Bundlers of users minify. Imported packages stay imports.
 */
export async function bundlePackage({ folder, entries, chunkOf, takesIn = [] }: BundledPackage): Promise<readonly BundledFile[]> {
  const bundle = await rolldown({
    cwd: folder,
    input: entries,
    platform: "neutral",
    external: (id, importer, isResolved) => !isResolved && importer !== undefined && !id.startsWith(".") && !takesIn.includes(id),
    resolve: { mainFields: ["module", "main"] },
    preserveEntrySignatures: "allow-extension",
    plugins: [markPure],
  });
  try {
    const { output } = await bundle.generate({
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "chunks/[name].js",
      minifyInternalExports: false,
      minify: { mangle: false, compress: true, codegen: { removeWhitespace: false } },
      codeSplitting: {
        groups: [
          {
            name: (id) => packageOf(id, takesIn) ?? chunkOf(relative(`${folder}/src`, id).replaceAll("\\", "/")),
            debugName: "parts",
          },
        ],
        includeDependenciesRecursively: false,
      },
      comments: { annotation: true, jsdoc: false, legal: false },
      sourcemap: true,
      // the sources need not be in the maps, because they are published too, and declaration maps refer to them as well
      sourcemapExcludeSources: true,
      // the sources of an included package are not published
      sourcemapPathTransform: (source) => (packageOf(source, takesIn) === undefined ? source : `\0${packageOf(source, takesIn)}`),
    });
    return output;
  } finally {
    await bundle.close();
  }
}

function packageOf(id: string, takesIn: readonly string[]): string | undefined {
  return takesIn.find((name) => id.replaceAll("\\", "/").includes(`/node_modules/${name}/`));
}

/**
 * Returns the chunk of a file. Every part of the library is one chunk, with two exceptions. A small part may be published in the chunk of
 * another one. And the code that checks and explains snapshots of callers has a chunk of its own: it is a quarter of `core`, and stores and
 * queues need none of it. An entry's `index.ts` is a file of its own, so that it exports only its own names.
 */
function partOf(path: string): string | null {
  if (/(^|\/)index\.ts$/.test(path)) return null;
  if (/^core\/(reading\/read-|explain\/explain)/.test(path)) return "core-reading";
  // loaded only if an expression names one of its functions
  if (path.startsWith("expressions/extra/")) return null;
  const found = layerOf(path);
  return (found?.layer.publishedIn ?? found?.part)?.replaceAll("/", "-") ?? null;
}
