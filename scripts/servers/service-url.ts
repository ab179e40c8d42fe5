import { effort } from "../test/effort.ts";
import { allServices } from "./all-services.ts";
import type { Service } from "./service.ts";
import { findService } from "./service-state.ts";

export type ServiceName = Service["name"] | "mongodb";

const answers = new Map<ServiceName, Promise<string | null>>();

/**
 * Where a service is: what the environment names (the `urlVariable` of each, such as `STEPFOLD_POSTGRES_URL`, and
 * `STEPFOLD_MONGODB_URL`), else what `scripts/services` started, else what answers on the standard
 * port; null if nobody does, and where the tests are to do without servers. A server that the environment names is not asked
 * first: a test should say that it is away. The answer is the same for the whole process.
 */
export function serviceUrl(name: ServiceName): Promise<string | null> {
  let answer = answers.get(name);
  if (!answer) {
    answer = find(name);
    answers.set(name, answer);
  }
  return answer;
}

/** `serviceUrl` for tests that skip without the service: says so in a loud line, or throws where `REQUIRE_SERVICES=1`. */
export async function serviceUrlOrSkip(name: ServiceName): Promise<string | null> {
  const url = await serviceUrl(name);
  if (url !== null) return url;
  tellNotTested(`NOT TESTED against ${name}: ${name === "mongodb" ? "set STEPFOLD_MONGODB_URL" : `run scripts/services up ${name}`}`);
  return null;
}

/** Before a test is skipped for want of a server: a loud line, or an error where `REQUIRE_SERVICES=1`. Nothing in `npm test`, which does without servers. */
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
