import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { BlobEntry, BlobStore } from "../../../ports/blob-store.ts";
import { segmentsOf } from "../../kit/blobs/blob-key.ts";

/** Loads the modules when they are first needed, so that this entry can be imported on platforms without files. */
const files = async () => ({ fs: await import("node:fs/promises"), path: await import("node:path") });
type Files = Awaited<ReturnType<typeof files>>;

/** The beginning of the names of files that are being written. No key has a segment that begins with a dot. */
const temporaryPrefix = ".writing-";

/**
 * Keeps blobs as files in a folder, which is made if it does not exist. Needs Node.js. Several processes of one machine may share the
 * folder; several machines may share it on a file system that renames atomically.
 *
 * A file is written under a temporary name, flushed to the disk and then renamed. So no reader sees half of a file, and an acknowledged
 * file survives a power loss.
 *
 * ```ts
 * import { fileBlobs } from "stepfold/stores/blobs";
 *
 * const blobs = fileBlobs("workflow-blobs");
 * console.log(await blobs.get("executions/a/b/c")); // null
 * ```
 */
export function fileBlobs(folder: string): BlobStore {
  if (typeof folder !== "string" || folder === "")
    throw new StepfoldError("OPTION_INVALID", { option: "folder", reason: "must be the path of a folder" });
  return {
    name: "a folder",
    async put(key, bytes) {
      const segments = segmentsOf(key);
      const { fs, path } = await files();
      const target = path.join(folder, ...segments);
      const made = await fs.mkdir(path.dirname(target), { recursive: true });
      const temporaryPath = path.join(path.dirname(target), `${temporaryPrefix}${crypto.randomUUID()}`);
      try {
        await fs.writeFile(temporaryPath, bytes, { flag: "wx", flush: true });
        await fs.rename(temporaryPath, target);
      } catch (cause) {
        await fs.rm(temporaryPath, { force: true });
        throw cause;
      }
      await flushFolders({ fs, path }, path.dirname(target), made === undefined ? path.dirname(target) : path.dirname(made));
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
      // removes the folder of the id if it is empty; else `rmdir` fails, which is ignored
      if (segments.length > 2) await fs.rmdir(path.join(folder, ...segments.slice(0, -1))).catch(() => undefined);
    },
    list: () => entriesIn(folder),
  };
}

async function* entriesIn(folder: string): AsyncGenerator<BlobEntry, void> {
  const { fs, path } = await files();
  const scan = async function* (at: string, prefix: string): AsyncGenerator<BlobEntry, void> {
    for (const entry of await fs.readdir(at, { withFileTypes: true }).catch(unlessMissing([]))) {
      const inner = path.join(at, entry.name);
      if (entry.isDirectory()) yield* scan(inner, `${prefix}${entry.name}/`);
      else if (entry.isFile() && !entry.name.startsWith(".")) {
        const stat = await fs.stat(inner).catch(unlessMissing(null));
        if (stat) yield { key: prefix + entry.name, writtenAt: Math.floor(stat.mtimeMs) };
      }
    }
  };
  yield* scan(folder, "");
}

/** Flushes folders from `lowest` up to `highest` to the disk, because the name of a file is stored in its folder. */
async function flushFolders({ fs, path }: Files, lowest: string, highest: string): Promise<void> {
  for (let folder = lowest; ; folder = path.dirname(folder)) {
    const handle = await fs.open(folder, "r").catch(() => null);
    // Windows cannot flush a folder
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
