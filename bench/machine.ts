import { mkdtempSync, statfsSync } from "node:fs";
import { arch, cpus, loadavg, platform, release, tmpdir, totalmem } from "node:os";
import { join } from "node:path";

/** What a table was measured on. */
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

const fileSystems: Readonly<Record<number, string>> = { 61267: "ext4", 1481003842: "xfs", 2435016766: "btrfs", 801189825: "zfs" };
const inMemory = new Set([0x01021994, 0x858458f6]); // tmpfs, ramfs

/** A folder for databases on a real disk: what never waits for a disk says nothing about durable steps. */
export function makeFolder(): string {
  const parent = inMemory.has(statfsSync(tmpdir()).type) ? import.meta.dirname : tmpdir();
  return mkdtempSync(join(parent, "stepfold-bench-"));
}

/** What this process runs on; databases are made in `folder`. */
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
