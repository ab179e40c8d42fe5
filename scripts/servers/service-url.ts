import { effort } from "../test/effort.ts";
import { allServices } from "./all-services.ts";
import type { Service } from "./service.ts";
import { findService } from "./service-state.ts";

export type ServiceName = Service["name"] | "mongodb";

const answers = new Map<ServiceName, Promise<string | null>>();

/**
 * Returns the URL of a service: the one that the environment names (the `urlVariable` of each service, such as `STEPFOLD_POSTGRES_URL`,
 * and `STEPFOLD_MONGODB_URL`), or else the server that `scripts/services` started, or else the one that answers on the standard port.
 * Returns null if none answers, or if the tests have to run without servers.
 *
 * A server that the environment names is not pinged first, so that a test fails if it is away. The answer is the same for the whole
 * process.
 */
export function serviceUrl(name: ServiceName): Promise<string | null> {
  let answer = answers.get(name);
  if (!answer) {
    answer = find(name);
    answers.set(name, answer);
  }
  return answer;
}

/** Like `serviceUrl`, for tests that are skipped without the service: prints a warning, or throws with `REQUIRE_SERVICES=1`. */
export async function serviceUrlOrSkip(name: ServiceName): Promise<string | null> {
  const url = await serviceUrl(name);
  if (url !== null) return url;
  tellNotTested(`NOT TESTED against ${name}: ${name === "mongodb" ? "set STEPFOLD_MONGODB_URL" : `run scripts/services up ${name}`}`);
  return null;
}

/**
 * Prints a warning before a test is skipped because a server is missing, or throws with `REQUIRE_SERVICES=1`. In `npm test`, which runs
 * without servers, it does nothing.
 */
export function tellNotTested(message: string): void {
  if (!effort.servers) return;
  if (process.env.REQUIRE_SERVICES === "1") throw new RangeError(message);
  console.warn(`!!! ${message}`);
}

async function find(name: ServiceName): Promise<string | null> {
  const service = allServices.find((one) => one.name === name);
  const named = process.env[service?.urlVariable ?? "STEPFOLD_MONGODB_URL"];
  if (!effort.servers) return null;
  if (named || !service) return named || null;
  const state = await findService(service);
  return state.kind === "not there" ? null : state.url;
}
