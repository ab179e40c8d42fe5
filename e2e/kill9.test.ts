import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "stepfold";
import { sqliteStore } from "stepfold/stores/sqlite";
import { describe, expect, it } from "vitest";
import { type LedgerLine, readLedger } from "../examples/order-flow/shop.ts";
import { effort } from "../scripts/test/effort.ts";
import { cli, jsonLines, newFolder, orderFlow, printedCommand, type Running, startCli, startPrinted } from "./cli.ts";
import { seeded } from "./kill9/seeded.ts";

const { orderKills: wantedKills } = effort;
const mostKillsPerCommand = 6;
const flowsAtOnce = 2;
const seed = Number(process.env.STEPFOLD_KILL_SEED ?? 20260);
const pathOf: Readonly<Record<string, string>> = { reserve: "/reservations", charge: "/charges", ship: "/shipments" };

interface Flow {
  readonly cwd: string;
  readonly id: string;
  readonly env: Readonly<Record<string, string>>;
  /** The number of requests of each step when its commit was first observed. */
  readonly requestsAtCommit: Map<string, number>;
}

describe("kill -9", () => {
  it(`at ${wantedKills} random moments repeats no committed step`, { timeout: 180_000 }, async () => {
    const random = seeded(seed);
    let kills = 0;
    let flows = 0;
    const work = async (): Promise<void> => {
      while (kills < wantedKills) {
        const flow: Flow = {
          cwd: newFolder(),
          id: `order-${++flows}`,
          env: { STEPFOLD_LEASE_MS: "300" },
          requestsAtCommit: new Map(),
        };
        await finish(flow, random, () => kills++);
        await judge(flow);
      }
    };
    await Promise.all(Array.from({ length: flowsAtOnce }, work));
    expect(kills, `seed ${seed}`).toBeGreaterThanOrEqual(wantedKills);
  });
});

/** Repeats the run command until the execution pauses, then the printed command until it completes. Most of these processes are killed. */
async function finish(flow: Flow, random: () => number, killed: () => unknown): Promise<void> {
  const { cwd, id, env } = flow;
  const paused = await repeat(flow, 1_600, random, killed, () =>
    startCli(["run", orderFlow.file, "--config", orderFlow.config, "--input", orderFlow.input, "--id", id], { cwd, env }),
  );
  const command = printedCommand(paused);
  const completed = await repeat(flow, 600, random, killed, () => startPrinted(command, { cwd, env }));
  expect(completed).toContain(`${id} completed`);
}

async function repeat(
  flow: Flow,
  longestLifeMs: number,
  random: () => number,
  killed: () => unknown,
  again: () => Running,
): Promise<string> {
  for (let kills = 0; ; ) {
    const running = again();
    const timer = kills < mostKillsPerCommand ? setTimeout(() => running.child.kill("SIGKILL"), 120 + random() * longestLifeMs) : undefined;
    const { code, signal, stdout, stderr } = await running.ended;
    clearTimeout(timer);
    if (signal === "SIGKILL") {
      killed();
      kills++;
      await observe(flow);
      continue;
    }
    expect({ code, stderr: stderr.replace("This answer was given before; going on\n", "") }).toEqual({ code: 0, stderr: "" });
    return stdout;
  }
}

/** Records the requests of each step that is committed by now. No process runs during this call, so the numbers do not change. */
async function observe({ cwd, id, requestsAtCommit }: Flow): Promise<void> {
  const ledger = ledgerOf(cwd);
  for (const event of await eventsOf(cwd, id)) {
    if (event.type !== "completed" || !(event.nodeId in pathOf) || requestsAtCommit.has(event.nodeId)) continue;
    requestsAtCommit.set(event.nodeId, requestsOf(ledger, event.nodeId).length);
  }
}

async function judge(flow: Flow): Promise<void> {
  const { cwd, id, requestsAtCommit } = flow;
  const events = await eventsOf(cwd, id);
  expect(events.map(({ version }) => version)).toEqual(events.map((_event, version) => version));
  const completed = events.flatMap((event) => (event.type === "completed" ? [event.nodeId] : []));
  expect(completed).toEqual(["price", "reserve", "settle", "large", "approve", "charge", "delivery", "courier", "ship", "shipped"]);
  const ledger = ledgerOf(cwd);
  for (const nodeId of Object.keys(pathOf)) {
    const requests = requestsOf(ledger, nodeId);
    expect(new Set(requests.map(({ key }) => key)).size).toBe(1);
    expect(requests.filter(({ effect }) => effect !== undefined)).toHaveLength(1);
    if (requestsAtCommit.has(nodeId)) expect(requests).toHaveLength(requestsAtCommit.get(nodeId)!);
  }
  const [shown] = jsonLines((await cli(["show", id, "--json"], { cwd })).stdout);
  expect(shown).toMatchObject({ status: "completed", version: events.length - 1, output: { order: "1001" } });
}

async function eventsOf(cwd: string, id: string): Promise<Event[]> {
  const folder = join(cwd, ".stepfold");
  // the process was killed before it created its folder or its file
  if (!readdirSync(cwd).includes(".stepfold") || !readdirSync(folder).includes("dev.db")) return [];
  const store = sqliteStore(join(folder, "dev.db"));
  const rows = await store.events(id, -1, 10_000);
  await store.close();
  return rows.map(({ event }) => event);
}

function ledgerOf(cwd: string): LedgerLine[] {
  return readLedger(join(cwd, ".stepfold/shop-ledger.jsonl"));
}

function requestsOf(ledger: readonly LedgerLine[], nodeId: string): LedgerLine[] {
  return ledger.filter(({ path }) => path === pathOf[nodeId]);
}
