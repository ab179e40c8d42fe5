import { safeMember } from "../../core/errors/safe-member.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { InterceptingEnvironment } from "../../engine/attempt/intercept.ts";
import { untyped } from "../../engine/workflow/typed-workflows.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import { createRuntime } from "../../runtime/create-runtime.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { CodeChecks } from "./checks/check-code.ts";
import { EffectLog } from "./checks/check-effects.ts";
import { ReplayChecks } from "./checks/check-replays.ts";
import { observing, type ScheduleSetting } from "./effects.ts";
import { Ledger } from "./ledger.ts";
import { Loans } from "./loans.ts";
import { type Faults, faultsOf } from "./machines/faults.ts";
import { beginsAt, Machine } from "./machines/machine.ts";
import { Network } from "./machines/network.ts";
import { remoteStore } from "./machines/remote-store.ts";
import { Scheduler } from "./machines/scheduler.ts";
import { observedStore } from "./observed-store.ts";
import { codeWithout } from "./other-workers.ts";
import type { SchedulePlan } from "./plan.ts";
import type { Promised } from "./promises.ts";
import type { Random } from "./random.ts";
import { RowLocks } from "./row-locks.ts";
import type { OtherWorker, Scenario } from "./scenario.ts";
import { SimulatedFeed } from "./services/simulated-feed.ts";
import { SimulatedQueue } from "./services/simulated-queue.ts";

/** The time between two polls of a process that must not poll. */
const neverMs = 24 * 60 * 60_000;
/** How late a timer may fire without faults: enough for a poll, a claim, and a commit that had to be repeated. */
const maxLateMs = 1_000;
/** The same if some workers leave executions to others: a message may go back and forth, until a poll finds the execution. */
const maxLeftMs = 3_000;
/** The largest error of a clock. */
const skewMs = 10 * 60_000;

/** A process and the runtime in it. */
export interface Process {
  readonly machine: Machine;
  readonly runtime: Runtime;
}

/** How a process begins. */
export interface Begun {
  readonly drive: boolean;
  readonly release: number;
  /** What it has less than others. Default: it has everything. */
  readonly worker?: OtherWorker | undefined;
}

/** Everything that exists in one schedule. */
export class World {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly ledger: Ledger;
  readonly effects: EffectLog;
  readonly promises: Promised[] = [];
  readonly loans: Loans = new Loans();
  readonly code: CodeChecks;
  readonly replays: ReplayChecks;
  readonly locks: RowLocks;
  /** The store below all faults. Only the checks use it directly. */
  readonly store: SnapshotStore;
  readonly scenario: Scenario;
  readonly plan: SchedulePlan;
  readonly random: Random;
  readonly #observed: SnapshotStore;
  readonly network: Network;
  readonly #queue: SimulatedQueue;
  /** Null in half of all schedules. */
  readonly #feed: SimulatedFeed | null;
  #machines = 0;
  /** Lets the store go back to an earlier state; null if it cannot. */
  #become: ((asOf: EpochMs) => void) | null = null;

  constructor(scenario: Scenario, plan: SchedulePlan, random: Random) {
    this.scenario = scenario;
    this.plan = plan;
    this.random = random;
    const scheduler = new Scheduler(random.fork("order"));
    const nowMs = (): number => scheduler.nowMs;
    this.scheduler = scheduler;
    this.faults = faultsOf(
      plan.faults,
      random.fork("faults"),
      nowMs,
      plan.mode === "liveness" ? plan.faultsUntilMs : Number.POSITIVE_INFINITY,
    );
    this.ledger = new Ledger(nowMs, plan.wakeUps !== "store", scenario.runtime?.maxCrashes ?? Number.POSITIVE_INFINITY);
    this.ledger.isMixed = plan.otherWorkers;
    if (plan.mode === "faultFree") this.ledger.maxLateMs = lateLimitOf(plan);
    this.code = new CodeChecks(this.ledger);
    this.replays = new ReplayChecks(this.ledger);
    this.ledger.keepsPast = plan.faults.includes("failover");
    this.effects = new EffectLog(this.ledger);
    this.locks = new RowLocks(nowMs);
    this.network = new Network(scheduler, random.fork("network"), this.faults, plan.leaseMs);
    this.store = scenario.store({
      now: () => beginsAt + scheduler.nowMs,
      callerNow: () => this.network.caller?.environment.now() ?? beginsAt + scheduler.nowMs,
      sleep: (ms) => new Promise((resolve) => void scheduler.after(ms, resolve)),
      lockedForMs: (workflowId) => this.locks.forMs(workflowId),
      onFailover: (become) => {
        this.#become = become;
      },
    });
    this.#observed = observedStore(this.store, this.ledger, { callerName: () => this.network.caller?.name ?? null, locks: this.locks });
    const ofFeed = random.fork("feed");
    this.#feed = ofFeed.chance(0.5) ? new SimulatedFeed({ scheduler, random: ofFeed }) : null;
    this.#queue = new SimulatedQueue({ scheduler, random: random.fork("queue"), faults: this.faults, network: this.network });
  }

  /**
   * Lets the store become its copy of `tailMs` ago, if it can: everything
   * acknowledged since then is lost. The store does not answer for `downMs`.
   */
  failOver(tailMs: number, downMs: number): void {
    if (!this.#become) return;
    this.network.downUntilMs = this.scheduler.nowMs + downMs;
    this.network.replaced++;
    const asOfMs = Math.max(0, this.scheduler.nowMs - tailMs);
    this.#become(beginsAt + asOfMs);
    this.ledger.rollBack(asOfMs);
    this.locks.clear();
  }

  /** Begins a process. */
  begin(role: string, { drive, release, worker = {} }: Begun): Process {
    const { scenario, plan, scheduler, random } = this;
    const name = `${role}.${++this.#machines}`;
    const own = random.fork(name);
    const isSkewed = this.faults.isActive("skew");
    const machine = new Machine(name, scheduler, own.fork("ids"), isSkewed ? own.between(-skewMs, skewMs) : 0);
    const setting: ScheduleSetting = {
      faults: this.faults,
      random: own.fork("steps"),
      nowMs: () => scheduler.nowMs,
      longMs: plan.leaseMs,
      onEffect: (effect) => {
        this.effects.add(effect);
        this.replays.checkEffect(effect);
      },
      onCode: (run, step, { name: process }) => this.replays.begin(run, step, process),
      onTwice: ({ workflowId, nodeId }) => this.ledger.violate("I14", `${name} runs ${nodeId} twice at the same time`, workflowId),
    };
    const { withoutCode = false } = scenario;
    const given = typeof scenario.workflows === "function" ? scenario.workflows(release) : scenario.workflows;
    const { workflows, nodeDefinitions = {} } = untyped(given, scenario.nodeDefinitions);
    // No message tells that it is the turn of an execution that shares a limit.
    const needsPolls = workflows.some((one) => safeMember(one, "concurrency") !== undefined || safeMember(one, "rateLimit") !== undefined);
    const lacksCode = withoutCode && !drive && own.fork("code").chance(0.5);
    const code = codeWithout(worker.lacks ?? [], { workflows, nodeDefinitions });
    const { store, onProblem } = this.code.watched(this.#storeOf(machine), name, worker);
    const environment: InterceptingEnvironment = { ...machine.environment, "~intercept": observing(machine, setting) };
    const runtime = createRuntime({
      leaseMs: plan.leaseMs,
      pollMs: drive && plan.wakeUps === "queue" && !needsPolls ? neverMs : plan.pollMs,
      owner: name,
      maxCrashes: Number.POSITIVE_INFINITY,
      ...scenario.runtime,
      ...(worker.taskQueues && { taskQueues: worker.taskQueues }),
      onProblem(workflowId, error) {
        onProblem(workflowId, error);
        scenario.runtime?.onProblem?.(workflowId, error);
      },
      ...(plan.wakeUps !== "store" && { queue: this.#queueOf(machine) }),
      ...(this.#feed && { feed: this.#feed.seenBy(machine) }),
      store,
      environment,
      nodeDefinitions: lacksCode ? undefined : code.nodeDefinitions,
      workflows: code.workflows,
      drive,
    });
    return { machine, runtime };
  }

  #storeOf(machine: Machine): SnapshotStore {
    const store = this.loans.watched(remoteStore(this.#observed, this.network, machine));
    return this.scenario.seenStore?.(store) ?? store;
  }

  #queueOf(machine: Machine): WorkQueue {
    const queue = this.#queue.seenBy(machine);
    return this.scenario.seenQueue?.(queue) ?? queue;
  }
}

/** How late a timer may fire without faults. With only a queue, a message goes from worker to worker until it comes to one with the code. */
function lateLimitOf({ otherWorkers, wakeUps }: SchedulePlan): number {
  if (!otherWorkers) return maxLateMs;
  return wakeUps === "queue" ? Number.POSITIVE_INFINITY : maxLeftMs;
}
