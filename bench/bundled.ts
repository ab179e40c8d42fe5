import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type OutputChunk, rolldown } from "rolldown";
import { minifySync } from "rolldown/utils";
import type { Sample } from "./measure.ts";
import { packedLibrary } from "./packed.ts";

const kilobyte = 1024;

/**
 * Returns the kilobytes (`size`), minified and gzipped, that a browser loads at once for code that imports the packed library, and about
 * how much each part contributes (`part NAME`).
 */
export async function bundled(code: string): Promise<Sample> {
  const entry = "\0bench-entry.js";
  const bundle = await rolldown({
    input: entry,
    cwd: packedLibrary(join(import.meta.dirname, "..")),
    platform: "browser",
    logLevel: "silent",
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? code : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  await bundle.close();
  // code behind a dynamic `import()` is in chunks of its own, and so is the code that such chunks share with the entry
  const loaded = loadedAtOnce(output.filter((file) => file.type === "chunk"));
  const size = loaded.reduce((sum, { code: text }) => sum + gzipSync(text, { level: 9 }).byteLength, 0) / kilobyte;
  return { size, ...shares(loaded, size) };
}

/** Returns the first chunk and all chunks that it imports statically, also indirectly. */
function loadedAtOnce([first, ...others]: readonly OutputChunk[]): readonly OutputChunk[] {
  const loaded = new Set([first!]);
  for (const { imports } of loaded) for (const chunk of others) if (imports.includes(chunk.fileName)) loaded.add(chunk);
  return [...loaded];
}

/** Gzip compresses all modules together, so each part gets a share of the total size in proportion to its size when compressed alone. */
function shares(chunks: readonly OutputChunk[], size: number): Sample {
  const sizes: Record<string, number> = {};
  let all = 0;
  for (const [path, { code }] of chunks.flatMap(({ modules }) => Object.entries(modules))) {
    if (!code) continue;
    const part = partOf(path);
    const alone = gzipSync(minifySync(path, code).code, { level: 9 }).byteLength;
    sizes[part] = (sizes[part] ?? 0) + alone;
    all += alone;
  }
  return Object.fromEntries(Object.entries(sizes).map(([part, alone]) => [`part ${part}`, (alone / all) * size]));
}

function partOf(path: string): string {
  const own = /stepfold\/dist\/(?:chunks\/)?([^/.]+)/.exec(path.replaceAll("\\", "/"))?.[1];
  if (own) return own;
  return /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path.replaceAll("\\", "/"))?.[1] ?? "entry";
}
