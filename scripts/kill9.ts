// Kills or stops processes under load, and checks what is stored: see docs/testing/crashes.md.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { behindProxy, isServed } from "../e2e/kill9/behind-proxy.ts";
import { failovers } from "../e2e/kill9/failover.ts";
import { failoverBench } from "../e2e/kill9/failover-bench.ts";
import { frozenHolders } from "../e2e/kill9/frozen.ts";
import { brownOuts, type GrayOptions, silences } from "../e2e/kill9/gray.ts";
import { faultsOf } from "../e2e/kill9/outcome.ts";
import { reportFailovers, reportFrozen, reportGray, reportStorm, reportZombies } from "../e2e/kill9/report.ts";
import type { RunOptions } from "../e2e/kill9/run.ts";
import { storm } from "../e2e/kill9/storm.ts";
import { isSetup, openTarget } from "../e2e/kill9/targets.ts";
import { zombies } from "../e2e/kill9/zombies.ts";

const usage = `npm run kill9 -- [--kills N | --zombies N | --frozen N | --brown-outs N | --silences N | --failovers N] [--store sqlite|postgres|mysql|redis] [--queue pg-boss|bullmq|bullmq-postgres|rabbitmq|nats|sqs] [--seed N] [--keep]

--kills    how many processes are killed while they work, default 300
--zombies  instead: how many are stopped for longer than their lease, and then go on
--frozen   instead: how many are stopped in the middle of a commit, until others have taken over, and then go on
--brown-outs  instead: how often the store's answers come too late for ten leases
--silences instead: how often half of the connections to the store are silent from one moment on
--failovers instead: how often a replica that lacks the latest commits takes over, on two Redis servers of the run's own (--store redis)
--store    sqlite (default), or a server: the one that STEPFOLD_POSTGRES_URL, STEPFOLD_MYSQL_URL or STEPFOLD_REDIS_URL names, or that scripts/services started
--queue    tells the workers what is due: pg-boss in that PostgreSQL, BullMQ on that Redis or, bullmq-postgres, on that PostgreSQL, or that RabbitMQ, NATS or SQS's emulator; default none
--seed     of the moments and the victims
--keep     leaves database and logs for a look at them`;

const { values } = parseArgs({
  options: {
    kills: { type: "string" },
    zombies: { type: "string" },
    frozen: { type: "string" },
    "brown-outs": { type: "string" },
    silences: { type: "string" },
    failovers: { type: "string" },
    store: { type: "string", default: "sqlite" },
    queue: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    keep: { type: "boolean", default: false },
    help: { type: "boolean" },
  },
});

interface Ended {
  readonly lines: readonly string[];
  readonly faults: ReturnType<typeof faultsOf>;
}

type Options = RunOptions & { readonly seed: number };

/** The disturbances of a run by name; each takes the number of repetitions. */
const disturbances = {
  async kills(options: Options, kills: number): Promise<Ended> {
    const ended = await storm({ ...options, kills });
    return { lines: reportStorm(ended), faults: faultsOf(ended) };
  },
  async zombies(options: Options, count: number): Promise<Ended> {
    const ended = await zombies({ ...options, zombies: count });
    return { lines: reportZombies(ended), faults: faultsOf(ended) };
  },
  async frozen(options: Options, freezes: number): Promise<Ended> {
    const ended = await frozenHolders({ ...options, freezes });
    return { lines: reportFrozen(ended), faults: faultsOf(ended) };
  },
  "brown-outs": (options: Options, times: number): Promise<Ended> => gray(options, (behind) => brownOuts({ ...behind, times })),
  silences: (options: Options, times: number): Promise<Ended> => gray(options, (behind) => silences({ ...behind, times })),
  async failovers(options: Options, times: number): Promise<Ended> {
    const servers = options.target.name === "redis" ? await failoverBench(options.folder) : null;
    if (!servers) return end("Failovers need --store redis, and the programs of Redis", 2);
    try {
      const ended = await failovers({ ...options, ...servers, times });
      return { lines: reportFailovers(ended), faults: { twice: ended.made.flatMap(({ byTwo }) => byTwo) } };
    } finally {
      await servers.close();
    }
  },
};

/** Runs with the store behind a proxy. */
async function gray(options: Options, disturbed: (behind: Omit<GrayOptions, "times">) => ReturnType<typeof silences>): Promise<Ended> {
  const name = options.target.name;
  const behind = isServed(name) ? await behindProxy(name) : null;
  if (!behind) return end(`There is no network before ${name}: choose postgres, mysql or redis, without a queue`, 2);
  try {
    const ended = await disturbed({ ...options, ...behind });
    return { lines: reportGray(ended), faults: faultsOf(ended) };
  } finally {
    await behind.close();
  }
}

const asked = (Object.keys(disturbances) as (keyof typeof disturbances)[]).filter((name) => values[name] !== undefined);
const [disturbance = "kills"] = asked;
const count = Number(values[disturbance] ?? 300);
const seed = Number(values.seed);
const setup = values.queue === undefined ? values.store : `${values.store} + ${values.queue}`;
const isValid = asked.length <= 1 && Number.isInteger(count) && count > 0 && Number.isInteger(seed) && isSetup(setup);
if (values.help || !isValid) end(usage, values.help ? 0 : 2);

const folder = mkdtempSync(join(tmpdir(), "stepfold-kill9-"));
const target = await openTarget(setup, folder);
if (!target) end(`No server answers for ${setup}: scripts/services up`, 2);
try {
  const options = { target, folder, seed, tell: (progress: string) => console.log(`  ${progress}`) };
  console.log(`seed ${seed}, ${target.name}${values.keep ? `, ${folder}` : ""}`);
  const { lines, faults } = await disturbances[disturbance](options, count);
  for (const line of lines) console.log(line);
  process.exitCode = Object.values(faults).some(({ length }) => length > 0) ? 1 : 0;
} finally {
  if (!values.keep) {
    await target.drop();
    rmSync(folder, { recursive: true, force: true });
  }
}
// the process has to exit, because a target that is kept has open connections
process.exit();

function end(message: string, code: number): never {
  console.log(message);
  process.exit(code);
}
