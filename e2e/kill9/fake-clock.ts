import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findFakeTime } from "../../scripts/servers/faketime.ts";

/** A clock of a process that can be set: libfaketime stands between the process and the system's clock. */
export interface FakeClock {
  /** What the process has to be started with. */
  readonly env: Readonly<Record<string, string>>;
  /** From now on it is wrong by so much. Timers do not notice: a clock that is set does not change the monotonic one. */
  set(errorMs: number): void;
  /** Once the process has ended. A process that was killed leaves its shared memory behind. */
  remove(pid: number): void;
}

/** One that is right so far. @param folder for the file that it reads its error from */
export function fakeClock(folder: string, name: string): FakeClock {
  const file = join(folder, `${name}.clock`);
  const set = (errorMs: number): void => {
    writeFileSync(`${file}.new`, `${errorMs < 0 ? "" : "+"}${errorMs / 1_000}s\n`);
    // nobody reads half of it
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
