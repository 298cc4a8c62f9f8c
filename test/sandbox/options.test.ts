import { describe, expect, test } from 'vitest';
import { parseOptions } from '#sandbox/options.ts';

const DEFAULTS = { port: undefined, withDemo: true, once: false, seed: 1, without: new Set(), measureWith: undefined };

describe('parseOptions', () => {
  test.each([
    ['nothing', [], DEFAULTS],
    [
      'every flag',
      ['--port', '8080', '--once', '--seed=9', '--without', 'agent', '--measure-with=node-os-utils'],
      { port: 8080, withDemo: true, once: true, seed: 9, without: new Set(['agent']), measureWith: 'node-os-utils' },
    ],
    [
      'every part left out',
      ['--without=agent', '--without=webhook', '--without=scheduler'],
      { ...DEFAULTS, without: new Set(['agent', 'webhook', 'scheduler']) },
    ],
    ['no demo', ['--no-demo'], { ...DEFAULTS, withDemo: false }],
  ])('takes %s', (_what, argv, options) => {
    expect(parseOptions(argv)).toEqual({ kind: 'run', options });
  });

  test('help wins over everything', () => {
    expect(parseOptions(['--nonsense', '--help'])).toEqual({ kind: 'help' });
  });

  test.each([
    [['--prot', '1'], 'Unknown flag "--prot": did you mean "--port"'],
    [['--onec'], 'Unknown flag "--onec": did you mean "--once"'],
    [
      ['start'],
      'Unknown flag "start": expected one of --port, --no-demo, --once, --seed, --without, --measure-with, --help',
    ],
    [['--port'], 'Missing value after "--port"'],
    [['--port', '70000'], 'Bad value "70000" of --port: expected a whole number from 0 to 65535'],
    [['--port', '-1'], 'Bad value "-1" of --port: expected a whole number from 0 to 65535'],
    [['--seed', '1e3'], 'Bad value "1e3" of --seed: expected a whole number from 0 to 4294967295'],
    [['--without', 'kubelet'], 'Bad value "kubelet" of --without: expected agent, scheduler or webhook'],
    [['--measure-with', 'ps'], 'Bad value "ps" of --measure-with: expected procfs, systeminformation or node-os-utils'],
    [['--once', '--no-demo'], 'Cannot use --once with --no-demo: there would be nothing to run'],
  ])('refuses %j', (argv, message) => {
    expect(parseOptions(argv)).toEqual({ kind: 'mistake', message });
  });
});
