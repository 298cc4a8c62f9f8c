import { nearestName } from '#shared/runtime/nearest-name.ts';

/** What `npm start` may leave out, to show what it is for. */
export type Component = 'agent' | 'webhook';

export interface SandboxOptions {
  /** Of the dashboard; `undefined` takes the usual one or, if that is in use, a free one. */
  readonly port: number | undefined;
  readonly withDemo: boolean;
  /** Runs the demo to its end and stops. */
  readonly once: boolean;
  /** Varies the names, sizes and order of the demo. */
  readonly seed: number;
  readonly without: ReadonlySet<Component>;
}

export type Arguments =
  | { readonly kind: 'run'; readonly options: SandboxOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly message: string };

const FLAGS = ['--port', '--no-demo', '--once', '--seed', '--without', '--help'];
const MOST_SEED = 2 ** 32 - 1;

export const USAGE = `Usage: npm start -- [flags]

Starts a small Kubernetes on this machine: an in-memory API server, a node that runs demo pods as real processes, a
scheduler, and Plimsoll itself, webhook and agent. Ctrl-C ends everything.

  --port N          port of the dashboard (usually 7470)
  --no-demo         start without the demo scenario
  --once            run the demo to its end; the last line is JSON:
                    {"refused":[{"pod","reason"}],"evicted":[{"pod","because"}],"survived":[…],"secondsToEvict":n}
                    where secondsToEvict runs from the node being short of memory to the eviction;
                    exit code 0 only if what had to happen happened
  --seed N          vary names, sizes and order of the demo (0 to ${MOST_SEED})
  --without PART    leave out the agent or the webhook, to see what happens then
  --help            this text`;

interface Draft {
  port?: number;
  withDemo: boolean;
  once: boolean;
  seed: number;
  readonly without: Set<Component>;
}

/** Reads the command line; the first mistake is reported, with the nearest flag where one is near. */
export function parseOptions(argv: readonly string[]): Arguments {
  if (argv.includes('--help')) return { kind: 'help' };
  const draft: Draft = { withDemo: true, once: false, seed: 1, without: new Set() };
  const words = argv.flatMap(splitAtEquals);
  for (let index = 0; index < words.length; index += 1) {
    const flag = words[index] ?? '';
    if (flag === '--no-demo') draft.withDemo = false;
    else if (flag === '--once') draft.once = true;
    else {
      index += 1;
      const mistake = applyValue(draft, flag, words[index]);
      if (mistake !== undefined) return { kind: 'mistake', message: mistake };
    }
  }
  if (draft.once && !draft.withDemo) {
    return { kind: 'mistake', message: 'Cannot use --once with --no-demo: there would be nothing to run' };
  }
  return { kind: 'run', options: { ...draft, port: draft.port } };
}

function splitAtEquals(word: string): readonly string[] {
  const at = word.indexOf('=');
  return word.startsWith('--') && at > 0 ? [word.slice(0, at), word.slice(at + 1)] : [word];
}

/** Sets a flag that has a value; returns what is wrong with it. */
function applyValue(draft: Draft, flag: string, value: string | undefined): string | undefined {
  if (!['--port', '--seed', '--without'].includes(flag)) return unknownFlag(flag);
  if (value === undefined) return `Missing value after "${flag}"`;
  if (flag === '--without') return leaveOut(draft, value);
  const most = flag === '--port' ? 65_535 : MOST_SEED;
  const number = /^\d{1,10}$/.test(value) ? Number(value) : NaN;
  if (!(number <= most)) return `Bad value "${value}" of ${flag}: expected a whole number from 0 to ${most}`;
  draft[flag === '--port' ? 'port' : 'seed'] = number;
  return undefined;
}

function leaveOut(draft: Draft, value: string): string | undefined {
  if (value !== 'agent' && value !== 'webhook') return `Bad value "${value}" of --without: expected agent or webhook`;
  draft.without.add(value);
  return undefined;
}

function unknownFlag(flag: string): string {
  const near = nearestName(flag, FLAGS);
  return near === undefined
    ? `Unknown flag "${flag}": expected one of ${FLAGS.join(', ')}`
    : `Unknown flag "${flag}": did you mean "${near}"`;
}
