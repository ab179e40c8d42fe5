import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

/**
 * Fetches one folder of an npm package into `package` below `folder`. Neither the package nor its dependencies are installed.
 *
 * @param version the name and version, such as `name@1.2.3`
 * @param member the folder inside the package
 */
export function fetchPackage(version: string, expectedIntegrity: string, folder: string, member: string): void {
  console.log(`fetching ${version} ...`);
  const incoming = join(folder, "incoming");
  rmSync(incoming, { recursive: true, force: true });
  mkdirSync(incoming, { recursive: true });
  const packed = execFileSync("npm", ["pack", version, "--json", "--ignore-scripts", "--pack-destination", incoming], {
    encoding: "utf8",
    timeout: 300_000,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [{ filename, integrity }] = JSON.parse(packed) as [{ filename: string; integrity: string }];
  if (integrity !== expectedIntegrity) throw new RangeError(`${version} is not what it was: ${integrity}`);
  execFileSync("tar", ["-xzf", join(incoming, filename), "-C", incoming, `package/${member}`], { timeout: 120_000 });
  rmSync(join(folder, "package"), { recursive: true, force: true });
  renameSync(join(incoming, "package"), join(folder, "package"));
  rmSync(incoming, { recursive: true });
}
