/** A server that tests use where it runs, and that we can start where it does not. */
export interface Service {
  readonly name: "postgres" | "mariadb" | "redis" | "dynamodb" | "rabbitmq" | "nats" | "sqs";
  /** The environment variable that names a server to use instead of any on this machine. */
  readonly urlVariable: string;
  /** The environment variable that moves the standard port, for tests of the start itself. */
  readonly portVariable: string;
  readonly standardPort: number;
  url(port: number): string;
  /** Speaks the protocol. Rejects with the reason if nobody, or somebody else, answers. */
  ping(url: string): Promise<void>;
  /** What is missing before it can be started: undefined, or what to install. */
  missing(): Installation | undefined;
  /** Creates what a first start needs and says what to run. The folder is the service's own. */
  prepare(folder: string, port: number): Promise<ServerCommand>;
  /** What the tests expect to find in a server that we started. */
  populate?(port: number): Promise<void>;
}

/** Debian packages, or whatever `install` does. */
interface Installation {
  readonly debianPackages?: readonly string[];
  readonly install?: () => void;
}

interface ServerCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Beside the variables of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Who runs it, when we are root and it refuses to be. */
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly stopSignal: "SIGTERM" | "SIGINT";
}

/** How long a ping waits for an answer. */
export const pingTimeoutMs = 3000;
