// Manages the servers that tests use, and prints one line for each: scripts/services up|down|status [name...]
// "up" uses servers that answer and starts the others on the loopback interface; "down" stops only those that "up" started.
import { allServices } from "./all-services.ts";
import { installChromium } from "./chromium.ts";
import { installFakeTime } from "./faketime.ts";
import { readOwnProcess, stopOwnProcess } from "./own-process.ts";
import { installRestate } from "./restate.ts";
import type { Service } from "./service.ts";
import { findService, preferredPort, type ServiceState } from "./service-state.ts";
import { answering, installService, startService } from "./start-service.ts";
import { isListening, reasonOf } from "./system.ts";

const [command = "status", ...names] = process.argv.slice(2);
const commands: Readonly<Record<string, (services: readonly Service[]) => Promise<void>>> = { up, down, status };
const unknown = names.find((name) => !allServices.some((service) => service.name === name));
const run = commands[command];
if (!run || unknown) {
  console.error(`usage: scripts/services up|down|status [${allServices.map(({ name }) => name).join("|")} ...]`);
  process.exit(2);
}
await run(names.length > 0 ? allServices.filter(({ name }) => names.includes(name)) : allServices);
if (run === up && names.length === 0) console.log([installFakeTime(), installRestate(), installChromium()].join("\n"));

async function status(services: readonly Service[]): Promise<void> {
  const states = await Promise.all(services.map(findService));
  for (const [index, service] of services.entries()) console.log(describe(service, states[index]!));
}

/** Installs one service after the other, because apt-get and npm must not run twice at the same time, and starts all of them at once. */
async function up(services: readonly Service[]): Promise<void> {
  const failed = new Map<Service, string>();
  const attempt = async (service: Service, work: () => void | Promise<void>): Promise<void> => {
    try {
      if (!failed.has(service)) await work();
    } catch (error) {
      failed.set(service, reasonOf(error));
    }
  };
  const absent = new Set<Service>();
  await Promise.all(services.map(async (service) => isToBeStarted(service, await findService(service)) && absent.add(service)));
  for (const service of absent) await attempt(service, () => installService(service));
  await Promise.all([...absent].map((service) => attempt(service, () => startOrJoin(service))));
  for (const service of services) {
    const state = await findService(service);
    console.log(describe(service, failed.has(service) && state.kind === "not there" ? { ...state, reason: failed.get(service)! } : state));
    if (state.kind === "not there") process.exitCode = 1;
  }
}

/** True if the service has to be started. A server that the environment names is never started by us. */
function isToBeStarted({ urlVariable }: Service, { kind }: ServiceState): boolean {
  return kind === "not there" && !process.env[urlVariable];
}

async function startOrJoin(service: Service): Promise<void> {
  const own = readOwnProcess(service.name);
  if (own) return answering(service, own);
  await startService(service, await freePort(service));
}

/** Returns the standard port, or, if another program uses it, the first free port from 10,000 above it. */
async function freePort(service: Service): Promise<number> {
  const preferred = preferredPort(service);
  let port = preferred;
  while (await isListening(port)) port = port === preferred ? preferred + 10_000 : port + 1;
  if (port !== preferred) console.log(`${service.name}: another program has port ${preferred}; ours is started on ${port}`);
  return port;
}

async function down(services: readonly Service[]): Promise<void> {
  await Promise.all(
    services.map(async (service) => {
      const own = readOwnProcess(service.name);
      if (own) await stopOwnProcess(service.name, own);
      console.log(`${service.name.padEnd(9)} ${own ? `stopped, pid ${own.pid}` : "not started by us"}`);
    }),
  );
}

function describe({ name }: Service, state: ServiceState): string {
  const pid = state.kind === "started by us" ? `, pid ${state.own.pid}` : "";
  const reason = state.kind === "not there" ? `: ${state.reason}` : "";
  return `${name.padEnd(9)} ${state.url.padEnd(44)} ${state.kind}${pid}${reason}`;
}
