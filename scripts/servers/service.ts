/** A server that tests use if it runs, and that we can start if it does not. */
export interface Service {
  readonly name: "postgres" | "mariadb" | "redis" | "dynamodb" | "rabbitmq" | "nats" | "sqs";
  /** The environment variable with the URL of a server to use instead of one on this machine. */
  readonly urlVariable: string;
  /** The environment variable that changes the standard port, for tests of the start itself. */
  readonly portVariable: string;
  readonly standardPort: number;
  url(port: number): string;
  /** Checks with the server's protocol that the server answers. Rejects with the reason if no server, or another one, answers. */
  ping(url: string): Promise<void>;
  /** Returns what has to be installed before the server can be started, or undefined. */
  missing(): Installation | undefined;
  /** Creates what the first start needs, and returns the command to run. The folder belongs to the service. */
  prepare(folder: string, port: number): Promise<ServerCommand>;
  /** Creates what the tests expect in a server that we started. */
  populate?(port: number): Promise<void>;
}

/** The Debian packages to install, and other work that `install` does. */
interface Installation {
  readonly debianPackages?: readonly string[];
  readonly install?: () => void;
}

interface ServerCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Additional environment variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The account of the server, if we are root and the server refuses to run as root. */
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly stopSignal: "SIGTERM" | "SIGINT";
}

/** How long a ping waits for an answer, in milliseconds. */
export const pingTimeoutMs = 3000;
