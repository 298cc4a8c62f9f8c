import { fileURLToPath } from 'node:url';
import { eventually } from '#test/build/waiting.ts';

/** A function of the repository that a process called: its file, as a path from the root, and its name. */
export interface CalledFunction {
  readonly file: string;
  readonly name: string;
}

/** V8 counts the calls of each function while a process works. */
export interface Tracer {
  /** The functions that were called since the last time. */
  called(): Promise<readonly CalledFunction[]>;
  close(): void;
}

/** Where a process of Node.js waits for debuggers after SIGUSR1; only one process at a time can. */
const INSPECTOR = 'http://127.0.0.1:9229/json';
/** A collection of garbage drops the bytecode of functions that are rarely called, and their counts with it. */
const KEEP_BYTECODE = "process.getBuiltinModule('node:v8').setFlagsFromString('--no-flush-bytecode')";
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Attaches to a process of Node.js on this machine. */
export async function traceProcess(pid: number): Promise<Tracer> {
  process.kill(pid, 'SIGUSR1');
  const [target] = await eventually(async () => {
    const answer = await fetch(INSPECTOR);
    return (await answer.json()) as readonly { readonly webSocketDebuggerUrl: string }[];
  });
  if (target === undefined) throw new Error(`no inspector was opened in process ${pid}`);
  const inspector = await openInspector(target.webSocketDebuggerUrl);
  await inspector.ask('Runtime.evaluate', { expression: KEEP_BYTECODE });
  await inspector.ask('Profiler.enable');
  await inspector.ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    called: async () => functionsOf((await inspector.ask('Profiler.takePreciseCoverage')) as CoverageResult),
    close: inspector.close,
  };
}

/** A connection by the protocol of Chrome DevTools. */
async function openInspector(url: string) {
  const socket = new WebSocket(url);
  const waiting = new Map<number, (result: unknown) => void>();
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  socket.onmessage = ({ data }: MessageEvent) => {
    const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown };
    waiting.get(id)?.(result);
    waiting.delete(id);
  };
  let asked = 0;
  const ask = (method: string, params: object = {}): Promise<unknown> => {
    asked += 1;
    socket.send(JSON.stringify({ id: asked, method, params }));
    return new Promise((resolve) => waiting.set(asked, resolve));
  };
  return { ask, close: () => socket.close() };
}

interface CoverageResult {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly count: number }[];
    }[];
  }[];
}

function functionsOf({ result }: CoverageResult): readonly CalledFunction[] {
  return result.flatMap(({ url, functions }) => {
    const file = url.startsWith('file:') ? fileURLToPath(url).slice(ROOT.length) : '';
    if (!/^(agent|dashboard|scheduler|shared|webhook)\//.test(file)) return [];
    return functions
      .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
      .map(({ functionName: name }) => ({ file, name }));
  });
}
