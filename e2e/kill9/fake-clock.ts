import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findFakeTime } from "../../scripts/servers/faketime.ts";

/** The clock of one process, which can be set: libfaketime stands between the process and the system's clock. */
export interface FakeClock {
  /** The environment variables with which the process has to be started. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the error of the clock in milliseconds. Timers do not change, because the monotonic clock stays right. */
  set(errorMs: number): void;
  /** Removes the shared memory of libfaketime, which a killed process leaves behind. Call it when the process has ended. */
  remove(pid: number): void;
}

/**
 * Makes a clock that is right until it is set.
 * @param folder the folder of the file from which the process reads the error
 */
export function fakeClock(folder: string, name: string): FakeClock {
  const file = join(folder, `${name}.clock`);
  const set = (errorMs: number): void => {
    writeFileSync(`${file}.new`, `${errorMs < 0 ? "" : "+"}${errorMs / 1_000}s\n`);
    // a rename is atomic, so the process never reads half a file
    renameSync(`${file}.new`, file);
  };
  set(0);
  return {
    env: {
      LD_PRELOAD: findFakeTime()!,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
    set,
    remove(pid) {
      for (const left of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`]) rmSync(join("/dev/shm", left), { force: true });
    },
  };
}
