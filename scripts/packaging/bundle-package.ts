import { relative } from "node:path";
import { type OutputAsset, type OutputChunk, rolldown } from "rolldown";
import { layerOf, layers } from "../architecture/layers.ts";
import { library, publicEntries, root } from "../public-entries.ts";
import { markPure } from "./mark-pure.ts";

/** A package whose code is published as one file for each entry, and chunks that entries share. */
export interface BundledPackage {
  readonly folder: string;
  /** Below `dist`, without `.js`, and below the package's folder: `stores/sqlite/index` is made of `src/stores/sqlite/index.ts`. */
  readonly entries: Readonly<Record<string, string>>;
  /** The chunk that a file below `src` belongs to; null leaves it to the bundler. */
  readonly chunkOf: (path: string) => string | null;
  /** Packages that become a chunk of their own, so that users need not install them. */
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
];

/** Code, with the entries and chunks that it imports, or a source map. */
export type BundledFile = OutputChunk | OutputAsset;

/**
 * Makes what is published of a package, in memory. What a process would read in vain is left out: comments, which editors read in the
 * declarations, spaces, and the names of local variables. Names of functions and classes stay, so a stack says where it was even
 * without the source maps. Packages that are imported stay imports.
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
      minify: { mangle: { keepNames: true }, compress: false, codegen: { removeWhitespace: true } },
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
      // the sources are published too, and declaration maps point to them as well
      sourcemapExcludeSources: true,
      // those of a package that was taken in are not
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
 * Every part of the house is one chunk, but for what checks and explains snapshots that a caller hands in: that is a quarter of `core`,
 * and the runtime needs none of it. An entry's `index.ts` is a file of its own, so that it exports its own names only.
 */
function partOf(path: string): string | null {
  if (/(^|\/)index\.ts$/.test(path)) return null;
  if (/^core\/(reading\/|explain\/explain)/.test(path)) return "core-reading";
  // loaded only where an expression names one of its functions
  if (path.startsWith("expressions/extra/")) return null;
  return layerOf(path)?.part.replaceAll("/", "-") ?? null;
}
