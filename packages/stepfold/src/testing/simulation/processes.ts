import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { maxTailMs } from "./ledger.ts";
import { beginsAt } from "./machines/machine.ts";
import { witnessed } from "./promises.ts";
import type { Random } from "./random.ts";
import type { ClientScript } from "./scenario.ts";
import type { Begun, Process, World } from "./world.ts";

/** The longest time until a process that was closed or has died is replaced. */
const maxDownMs = 1_000;
/** The usual time between two moments at which something may happen to a process, in milliseconds. */
const lookMs = 250;
/** The timeout for closing a runtime. */
const closeMs = 500;
const maxClientProcesses = 3;

/** Keeps a process running: when it has ended, another process of a later release takes its place. */
function keep(world: World, name: string, { drive, worker }: Omit<Begun, "release">, onBegun: (process: Process) => void): void {
  const random = world.random.fork(name);
  let release = 0;
  const begin = (): void => {
    const process = world.begin(name, { drive, worker, release: release++ });
    process.machine.onEnded = () => world.scheduler.after(random.between(10, maxDownMs), begin);
    onBegun(process);
    trouble(world, process, random.fork(`${release}`));
  };
  begin();
}

/** Begins the processes of a schedule: the workers, and the processes in which clients run. */
export function beginProcesses(world: World, onScriptDone: () => void): void {
  const { plan, scenario, random } = world;
  const { wakeUps, mode } = plan;
  // with only a queue, a message has to come to a worker with the code before the schedule is over
  const isBare = wakeUps === "queue" && plan.otherWorkers;
  const others = Object.entries((plan.otherWorkers && scenario.otherWorkers) || []).slice(0, isBare ? 1 : undefined);
  for (let i = 0; i < Math.max(plan.workers, isBare ? 2 : 1); i++) keep(world, `worker${i}`, { drive: true }, () => undefined);
  for (const [i, worker] of others) keep(world, `other${i}`, { drive: true, worker }, () => undefined);
  const chance = random.fork("clients");
  // A process that drives runs executions, and polls for them. Without a queue and without faults all processes of clients must do so;
  // with only a queue none of them may.
  const drives = Array.from(
    { length: maxClientProcesses },
    () => (wakeUps === "store" && mode === "faultFree") || (wakeUps !== "queue" && chance.chance(0.5)),
  );
  const all = scenario.clients.flatMap((given, index) =>
    scriptsOf(given).map((script, i) => ({
      index,
      place: chance.between(0, maxClientProcesses - 1),
      name: `script${index}.${i}`,
      script,
      restarts: 0,
      isDone: false,
    })),
  );
  for (const [place, isDriving] of drives.entries()) {
    const scripts = all.filter((one) => one.place === place && plan.clients.includes(one.index));
    if (scripts.length === 0) continue;
    keep(world, `clients${place}`, { drive: isDriving }, (process) => {
      for (const running of scripts) if (!running.isDone) play(world, process, running, onScriptDone);
    });
  }
}

/** Returns the scripts of one entry of `clients`: one script, or several that belong together. */
export function scriptsOf(given: ClientScript | readonly ClientScript[]): readonly ClientScript[] {
  return typeof given === "function" ? [given] : given;
}

interface Running {
  readonly name: string;
  readonly script: ClientScript;
  restarts: number;
  isDone: boolean;
}

/** Runs the script of a client from its beginning, and again after errors that a caller has to expect. */
function play(world: World, { machine, runtime }: Process, running: Running, onDone: () => void): void {
  const { name, script } = running;
  const client = {
    runtime: witnessed(runtime, {
      onPromised: (promised) => world.promises.push(promised),
      onExpired(workflowId, timeoutAt) {
        const earlyMs = timeoutAt - beginsAt - world.scheduler.nowMs;
        if (earlyMs > 0) world.ledger.violate("I8", `an answer was refused as too late ${earlyMs} ms before its time was up`, workflowId);
      },
    }),
    random: world.random.fork(name),
    now: machine.environment.now,
    sleep: (ms: number) => machine.sleep(ms),
    restarts: running.restarts++,
  };
  const { failovers } = world.ledger;
  const over = (): void => {
    running.isDone = true;
    onDone();
  };
  // A failover may still lose what the script has done last. If it does, the script runs again.
  const unlessLost = async (): Promise<void> => {
    if (world.ledger.keepsPast) await machine.sleep(maxTailMs);
    if (world.ledger.failovers === failovers) return over();
    if (machine.isAlive) play(world, { machine, runtime }, running, onDone);
  };
  script(client).then(unlessLost, (error: unknown) => {
    // After a failover, the script may have been told something that is lost.
    if (isTrouble(error) || world.ledger.failovers > failovers) {
      if (machine.isAlive) void machine.sleep(lookMs).then(() => play(world, { machine, runtime }, running, onDone));
      return;
    }
    world.ledger.violate("script", `${name}: ${String(error)}`);
    over();
  });
}

/** True for errors that every caller has to expect: the call is made again. */
function isTrouble(error: unknown): boolean {
  return StepfoldError.is(error) && ["STORE_UNAVAILABLE", "OUTCOME_UNKNOWN", "QUEUE_UNAVAILABLE", "RUNTIME_CLOSED"].includes(error.code);
}

/** Crashes, closes or cuts off a process, or makes some of its connections silent, from time to time. */
function trouble(world: World, process: Process, random: Random): void {
  const { faults, scheduler, plan } = world;
  const { machine } = process;
  const look = (): void => {
    if (!machine.isAlive) return;
    if (faults.happens("crash")) machine.end();
    else if (faults.happens("restart")) close(world, process);
    else {
      if (faults.happens("partition")) machine.cutOffUntilMs = scheduler.nowMs + random.between(100, 3 * plan.leaseMs);
      if (faults.happens("halfOpen")) {
        machine.silentUntilMs = scheduler.nowMs + random.between(100, 3 * plan.leaseMs);
        machine.silentShare = random.between(1, 6) / 10;
      }
      if (plan.mode === "safety" || scheduler.nowMs < plan.faultsUntilMs) scheduler.after(random.between(lookMs / 2, lookMs * 2), look);
    }
  };
  scheduler.after(random.between(0, lookMs * 2), look);
}

/** Closes the runtime, as for a new release. The process ends when the runtime is closed, or when closing takes too long. */
function close(world: World, { machine, runtime }: Process): void {
  const end = (): void => machine.end();
  runtime.close({ timeoutMs: closeMs }).then(end, end);
  world.scheduler.after(2 * closeMs, end);
}
