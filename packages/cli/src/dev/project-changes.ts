import { existsSync, type FSWatcher, readdirSync, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { workflowsFolder } from "./project.ts";

/** Editors write a file in several steps: after the first one this much time passes before the change counts. */
const settleMs = 150;

/** Watches the files of a project: its config, the code that this loads, and its workflows. */
export class ProjectChanges {
  readonly #changed: (files: readonly string[]) => void;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #watched = new Set<string>();
  readonly #isProject: boolean;
  #timer: NodeJS.Timeout | null = null;
  #pending = new Set<string>();

  /** @param isProject files that are new in the folder count too: a config, and workflows in `workflows/` @param changed gets the files that have changed */
  constructor(isProject: boolean, changed: (files: readonly string[]) => void) {
    this.#isProject = isProject;
    this.#changed = changed;
    if (!isProject) return;
    this.#watchFolder(resolve("."));
    if (existsSync(workflowsFolder)) this.#watchFolder(resolve(workflowsFolder));
  }

  /** Watches these files too. */
  add(files: readonly string[]): void {
    for (const file of files) {
      this.#watched.add(file);
      this.#watchFolder(dirname(file));
    }
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  // a folder is watched and not its files, because editors replace a file by a new one
  #watchFolder(folder: string): void {
    if (this.#watchers.has(folder)) return;
    try {
      const watcher = watch(folder, (_event, name) => name !== null && this.#seen(resolve(folder, name)));
      // a folder that is deleted is not watched any more
      watcher.on("error", () => this.#watchers.delete(folder));
      this.#watchers.set(folder, watcher);
    } catch {
      // the folder is gone: what is in it cannot change
    }
  }

  #seen(file: string): void {
    if (this.#isProject && file === resolve(workflowsFolder)) this.#beginFolder(file);
    if (!this.#watched.has(file) && !this.#isNew(file)) return;
    this.#pending.add(file);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      const files = [...this.#pending];
      this.#pending = new Set();
      this.#changed(files);
    }, settleMs);
  }

  /** Watches the folder of workflows, which is new. Files may be in it already. */
  #beginFolder(folder: string): void {
    if (this.#watchers.has(folder) || !existsSync(folder)) return;
    this.#watchFolder(folder);
    for (const name of readdirSync(folder)) this.#seen(resolve(folder, name));
  }

  #isNew(file: string): boolean {
    if (!this.#isProject) return false;
    const isConfig = /^stepfold\.config\.(?:ts|mts|js|mjs)$/.test(basename(file)) && dirname(file) === resolve(".");
    return isConfig || (dirname(file) === resolve(workflowsFolder) && file.endsWith(".json"));
  }
}
