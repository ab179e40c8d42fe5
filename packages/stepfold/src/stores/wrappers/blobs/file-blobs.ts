import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { BlobEntry, BlobStore } from "../../../ports/blob-store.ts";
import { segmentsOf } from "../../kit/blob-key.ts";

/** Loaded when first needed, so that this entry loads where there are no files. */
const files = async () => ({ fs: await import("node:fs/promises"), path: await import("node:path") });
type Files = Awaited<ReturnType<typeof files>>;

/** What is being written has a name that no key has. */
const temporary = ".writing-";

/**
 * Blobs as files in a folder, which is made if there is none. Needs Node.js. Several processes of one machine may share
 * the folder; so may machines on a file system that renames atomically.
 *
 * A file is written aside, flushed to the disk and then renamed: nobody sees half of it, and an acknowledged one survives a
 * power loss.
 *
 * ```ts
 * import { fileBlobs } from "stepfold/stores/blobs";
 *
 * const blobs = fileBlobs("workflow-blobs");
 * console.log(await blobs.get("executions/a/b/c")); // null
 * ```
 */
export function fileBlobs(folder: string): BlobStore {
  if (folder === "") throw new StepfoldError("OPTION_INVALID", { option: "folder", reason: "is empty" });
  return {
    name: "a folder",
    async put(key, bytes) {
      const segments = segmentsOf(key);
      const { fs, path } = await files();
      const whole = path.join(folder, ...segments);
      const made = await fs.mkdir(path.dirname(whole), { recursive: true });
      const aside = path.join(path.dirname(whole), `${temporary}${crypto.randomUUID()}`);
      try {
        await fs.writeFile(aside, bytes, { flag: "wx", flush: true });
        await fs.rename(aside, whole);
      } catch (cause) {
        await fs.rm(aside, { force: true });
        throw cause;
      }
      await flushFolders({ fs, path }, path.dirname(whole), made === undefined ? path.dirname(whole) : path.dirname(made));
    },
    async get(key) {
      const segments = segmentsOf(key);
      const { fs, path } = await files();
      return fs.readFile(path.join(folder, ...segments)).catch(unlessMissing(null));
    },
    async deleteFolder(name) {
      const segments = segmentsOf(name);
      const { fs, path } = await files();
      await fs.rm(path.join(folder, ...segments), { recursive: true, force: true });
      // the folder of an id that has no other executions; one that is not empty stays
      if (segments.length > 2) await fs.rmdir(path.join(folder, ...segments.slice(0, -1))).catch(() => undefined);
    },
    list: () => entriesIn(folder),
  };
}

async function* entriesIn(folder: string): AsyncGenerator<BlobEntry, void> {
  const { fs, path } = await files();
  const walk = async function* (at: string, prefix: string): AsyncGenerator<BlobEntry, void> {
    for (const entry of await fs.readdir(at, { withFileTypes: true }).catch(unlessMissing([]))) {
      const inner = path.join(at, entry.name);
      if (entry.isDirectory()) yield* walk(inner, `${prefix}${entry.name}/`);
      else if (entry.isFile() && !entry.name.startsWith(".")) {
        const stat = await fs.stat(inner).catch(unlessMissing(null));
        if (stat) yield { key: prefix + entry.name, writtenAt: Math.floor(stat.mtimeMs) };
      }
    }
  };
  yield* walk(folder, "");
}

/** Names of files are content of their folder: they too must reach the disk. */
async function flushFolders({ fs, path }: Files, lowest: string, highest: string): Promise<void> {
  for (let folder = lowest; ; folder = path.dirname(folder)) {
    const handle = await fs.open(folder, "r").catch(() => null);
    // Windows has no such thing
    await handle?.sync().catch(() => undefined);
    await handle?.close();
    if (folder === highest || folder === path.dirname(folder)) return;
  }
}

function unlessMissing<T>(otherwise: T): (cause: unknown) => T {
  return (cause) => {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return otherwise;
    throw cause;
  };
}
