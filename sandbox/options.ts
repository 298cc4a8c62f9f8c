import { parseArgs } from 'node:util';
import { nearestName } from '#shared/runtime/settings.ts';
import { PROCESS_SOURCES, type ProcessSourceName } from './node/processes/process-source.ts';

/** Components that `npm start` may leave out, to show their purpose. */
export const COMPONENTS = ['agent', 'scheduler', 'webhook'] as const;
export type SandboxComponent = (typeof COMPONENTS)[number];

export interface SandboxOptions {
  /** Port of the dashboard; `undefined` takes the usual one or, if that is in use, a free one. */
  readonly port: number | undefined;
  readonly withDemo: boolean;
  /** Runs the demo to its end and stops. */
  readonly once: boolean;
  /** Varies the names, sizes and order of the demo. */
  readonly seed: number;
  readonly without: ReadonlySet<SandboxComponent>;
  /** How processes are measured; `undefined` takes /proc or, if that is missing, libraries. */
  readonly measureWith: ProcessSourceName | undefined;
}

export type Arguments =
  | { readonly kind: 'run'; readonly options: SandboxOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly message: string };

const MAX_SEED = 2 ** 32 - 1;

export const USAGE = `Usage: npm start -- [flags]

Starts a small Kubernetes on this machine: an in-memory API server, a node that runs demo pods as real processes, a
scheduler, and Plimsoll itself: webhook, agent and scheduler extender. Ctrl-C ends everything.

  --port N          port of the dashboard (usually 7470)
  --no-demo         start without the demo scenario
  --once            run the demo to its end; the last line is JSON:
                    {"refused":[{"pod","reason"}],"preempted":[{"pod","madeRoomFor","because"}],"spared":[…],
                    "evicted":[{"pod","because"}],"survived":[…],"secondsToEvict":n}
                    where because says why Plimsoll changed the preemption, or why the pod was evicted, and
                    secondsToEvict runs from the node being short of memory to the eviction;
                    exit code 0 only if everything happened as planned
  --seed N          vary names, sizes and order of the demo (0 to ${MAX_SEED})
  --without PART    leave out the agent, the scheduler or the webhook, to see the difference
  --measure-with S  measure the pods' processes with ${listed(PROCESS_SOURCES)}
                    (default: procfs; without /proc the first of the others that works)
  --help            this text`;

const FLAGS = {
  port: { type: 'string' },
  'no-demo': { type: 'boolean' },
  once: { type: 'boolean' },
  seed: { type: 'string' },
  without: { type: 'string', multiple: true },
  'measure-with': { type: 'string' },
  help: { type: 'boolean' },
} as const;

/** The value of a flag. */
interface Expected {
  readonly says: string;
  readonly accepts: (value: string) => boolean;
}

const VALUES: ReadonlyMap<string, Expected> = new Map([
  ['--port', wholeNumberUpTo(65_535)],
  ['--seed', wholeNumberUpTo(MAX_SEED)],
  ['--without', oneOf(COMPONENTS)],
  ['--measure-with', oneOf(PROCESS_SOURCES)],
]);

/** Reads the command line; reports the first mistake, with the most similar flag if there is one. */
export function parseOptions(argv: readonly string[]): Arguments {
  if (argv.includes('--help')) return { kind: 'help' };
  const { values, tokens } = parseArgs({ args: [...argv], options: FLAGS, strict: false, tokens: true });
  const { port, once = false, 'no-demo': noDemo = false, seed = 1, without = [] } = values;
  const mistake = tokens.map((token) => mistakeIn(token, argv)).find((message) => message !== undefined);
  if (mistake !== undefined) return { kind: 'mistake', message: mistake };
  if (once === true && noDemo === true) {
    return { kind: 'mistake', message: 'Cannot use --once with --no-demo: there would be nothing to run' };
  }
  const options = {
    port: port === undefined ? undefined : Number(port),
    withDemo: noDemo !== true,
    once: once === true,
    seed: Number(seed),
    without: new Set(COMPONENTS.filter((each) => without.includes(each))),
    measureWith: PROCESS_SOURCES.find((each) => each === values['measure-with']),
  };
  return { kind: 'run', options };
}

type Token =
  | { readonly kind: 'option'; readonly name: string; readonly rawName: string; readonly value: string | undefined }
  | { readonly kind: 'positional' | 'option-terminator'; readonly index: number };

function mistakeIn(token: Token, argv: readonly string[]): string | undefined {
  if (token.kind !== 'option') return unknownFlag(argv[token.index] ?? '');
  const { name, rawName: flag, value } = token;
  if (flag !== `--${name}` || !Object.hasOwn(FLAGS, name)) return unknownFlag(flag);
  const expected = VALUES.get(flag);
  if (expected === undefined) return value === undefined ? undefined : unknownFlag(value);
  if (value === undefined) return `Missing value after "${flag}"`;
  return expected.accepts(value) ? undefined : `Bad value "${value}" of ${flag}: expected ${expected.says}`;
}

function wholeNumberUpTo(most: number): Expected {
  const accepts = (value: string): boolean => /^\d{1,10}$/.test(value) && Number(value) <= most;
  return { says: `a whole number from 0 to ${most}`, accepts };
}

function oneOf(names: readonly string[]): Expected {
  return { says: listed(names), accepts: (value) => names.includes(value) };
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`;
}

function unknownFlag(flag: string): string {
  const known = Object.keys(FLAGS).map((name) => `--${name}`);
  const near = nearestName(flag, known);
  return near === undefined
    ? `Unknown flag "${flag}": expected one of ${known.join(', ')}`
    : `Unknown flag "${flag}": did you mean "${near}"`;
}
