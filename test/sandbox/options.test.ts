import { describe, expect, test } from 'vitest';
import { parseOptions } from '#sandbox/options.ts';

const DEFAULTS = { port: undefined, withDemo: true, once: false, seed: 1, without: new Set() };

describe('parseOptions', () => {
  test.each([
    ['nothing', [], DEFAULTS],
    [
      'every flag',
      ['--port', '8080', '--once', '--seed=9', '--without', 'agent'],
      { port: 8080, withDemo: true, once: true, seed: 9, without: new Set(['agent']) },
    ],
    [
      'a part left out twice',
      ['--without=agent', '--without=webhook'],
      { ...DEFAULTS, without: new Set(['agent', 'webhook']) },
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
    [['start'], 'Unknown flag "start": expected one of --port, --no-demo, --once, --seed, --without, --help'],
    [['--port'], 'Missing value after "--port"'],
    [['--port', '70000'], 'Bad value "70000" of --port: expected a whole number from 0 to 65535'],
    [['--port', '-1'], 'Bad value "-1" of --port: expected a whole number from 0 to 65535'],
    [['--seed', '1e3'], 'Bad value "1e3" of --seed: expected a whole number from 0 to 4294967295'],
    [['--without', 'scheduler'], 'Bad value "scheduler" of --without: expected agent or webhook'],
    [['--once', '--no-demo'], 'Cannot use --once with --no-demo: there would be nothing to run'],
  ])('refuses %j', (argv, message) => {
    expect(parseOptions(argv)).toEqual({ kind: 'mistake', message });
  });
});
