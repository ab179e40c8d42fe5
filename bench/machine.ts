import { mkdtempSync, statfsSync } from "node:fs";
import { arch, cpus, loadavg, platform, release, tmpdir, totalmem } from "node:os";
import { join } from "node:path";

/** The machine and the software on which a table was measured. */
export interface Machine {
  readonly node: string;
  readonly v8: string;
  readonly sqlite: string;
  readonly system: string;
  readonly processor: string;
  readonly processors: number;
  readonly memoryGb: number;
  readonly fileSystem: string;
  readonly loadBefore: number;
}

/** Names of file systems by their magic numbers in Linux, as `statfs` returns them. */
const fileSystems: Readonly<Record<number, string>> = { 61267: "ext4", 1481003842: "xfs", 2435016766: "btrfs", 801189825: "zfs" };
const inMemory = new Set([0x01021994, 0x858458f6]); // tmpfs and ramfs

/** Makes a folder for databases on a real disk, because figures from a file system in memory say nothing about durable steps. */
export function makeFolder(): string {
  const parent = inMemory.has(statfsSync(tmpdir()).type) ? import.meta.dirname : tmpdir();
  return mkdtempSync(join(parent, "stepfold-bench-"));
}

/** Describes the machine and software of this process, and the file system of `folder`, where the databases are. */
export function describeMachine(folder: string): Machine {
  const { type } = statfsSync(folder);
  return {
    node: process.version,
    v8: process.versions.v8,
    sqlite: process.versions.sqlite ?? "none",
    system: `${platform()} ${release()} ${arch()}`,
    processor: cpus()[0]?.model.trim() ?? "unknown",
    processors: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    fileSystem: inMemory.has(type) ? "memory: durable figures mean nothing" : (fileSystems[type] ?? `type 0x${type.toString(16)}`),
    loadBefore: loadavg()[0]!,
  };
}
