import { letTimePass } from '#test/build/waiting.ts';

/** Takes the processor from another process, which does not notice. */
interface Pausing {
  readonly stop: () => void;
  readonly resume: () => void;
  /** In turns, for as long as something takes. */
  whileStarved(turn: Turn, something: () => Promise<void>): Promise<void>;
}

interface Turn {
  readonly stoppedMs: number;
  readonly runningMs: number;
}

/** Of the process with this number, by SIGSTOP and SIGCONT. */
export function pausing(pidOf: () => number | undefined): Pausing {
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => () => {
    const pid = pidOf();
    if (pid === undefined) throw new Error(`no process to send ${name} to`);
    process.kill(pid, name);
  };
  const [stop, resume] = [signal('SIGSTOP'), signal('SIGCONT')];

  async function takeTurns({ stoppedMs, runningMs }: Turn, end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      stop();
      await letTimePass(stoppedMs, 'load', end);
      resume();
      await letTimePass(runningMs, 'load', end);
    }
  }

  async function whileStarved(turn: Turn, something: () => Promise<void>): Promise<void> {
    const done = new AbortController();
    const turns = takeTurns(turn, done.signal);
    await something().finally(() => done.abort());
    await turns;
  }
  return { stop, resume, whileStarved };
}
