import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { describeSettings, loadConfiguration } from '#shared/runtime/configuration.ts';

const schema = z.strictObject({
  port: z.number().int().min(1).max(65_535).default(10_250).describe('Port to listen on'),
  mode: z.enum(['DryRun', 'Enforce']).default('Enforce'),
  logLevel: z.enum(['info', 'debug']).default('info'),
  verbose: z.boolean().default(false),
  extender: z.enum(['Off', 'On']).default('On'),
  tls: z
    .strictObject({
      mode: z.enum(['self-signed', 'existing-secret']).default('self-signed'),
      dnsNames: z.array(z.string()).default([]),
    })
    .prefault({}),
});
const DEFAULTS = {
  port: 10_250,
  mode: 'Enforce',
  logLevel: 'info',
  verbose: false,
  extender: 'On',
  tls: { mode: 'self-signed', dnsNames: [] },
};
const HEADER = 'apiVersion: config.plimsoll.dev/v1alpha1\nkind: TestConfiguration\n';

function load(argv: readonly string[], file = '', env: Record<string, string> = {}) {
  return loadConfiguration({
    kind: 'TestConfiguration',
    schema,
    argv,
    env,
    envPrefix: 'PLIMSOLL',
    readFile: (path) => {
      if (path === 'absent.yaml') throw new Error('no such file');
      return file;
    },
  });
}

describe('loadConfiguration', () => {
  test('gives the defaults when nothing is said', () => {
    expect(load([])).toEqual({ ok: true, value: DEFAULTS });
  });

  test('names the flag of a setting that has no value and no default', () => {
    const loaded = loadConfiguration({
      kind: 'TestConfiguration',
      schema: z.strictObject({ nodeName: z.string() }),
      argv: [],
      env: {},
      envPrefix: 'PLIMSOLL',
      readFile: () => '',
    });
    expect(loaded).toEqual({ ok: false, mistakes: ['nodeName: a value is missing; set --node-name'] });
  });

  test('lets flags win over the environment and the environment over the file', () => {
    const file = `${HEADER}port: 1\nmode: DryRun\nlogLevel: debug\n`;
    const env = {
      PLIMSOLL__PORT: '2',
      PLIMSOLL_MODE: 'Enforce',
      PLIMSOLL_CONFIG: 'a.yaml',
      PLIMSOLL_SERVER: 'not ours',
    };
    expect(load(['--port', '3'], file, env)).toEqual({
      ok: true,
      value: { ...DEFAULTS, port: 3, mode: 'Enforce', logLevel: 'debug' },
    });
  });

  test.each<[string, object]>([
    ['port: 01750', { port: 1_000 }],
    ['port: 1_000', { port: 1_000 }],
    ['port: 0x1F', { port: 31 }],
    ['verbose: yes', { verbose: true }],
    ['extender: Off', { extender: 'Off' }],
    ['extender: "Off"', { extender: 'Off' }],
    ['extender: no', { extender: 'Off' }],
    ['extender: on', { extender: 'On' }],
  ])('reads %s as kubectl does', (line, value) => {
    expect(load(['--config=a.yaml'], `${HEADER}${line}\n`)).toEqual({ ok: true, value: { ...DEFAULTS, ...value } });
  });

  test.each([
    ['logLevel: no', 'logLevel: '],
    ['port: "1"', 'port: '],
    ['port: 1\nport: 2', 'Map keys must be unique'],
  ])('refuses %j', (text, mistake) => {
    const loaded = load(['--config=a.yaml'], `${HEADER}${text}\n`);
    expect(loaded).toMatchObject({ ok: false, mistakes: [expect.stringContaining(mistake)] });
  });

  const accepted: Record<string, { argv: string[]; value: unknown }> = {
    'a flag with an equals sign': { argv: ['--port=7'], value: { ...DEFAULTS, port: 7 } },
    'a boolean flag alone': { argv: ['--verbose', '--port', '9'], value: { ...DEFAULTS, verbose: true, port: 9 } },
    'a boolean flag with its value': { argv: ['--verbose', 'false'], value: DEFAULTS },
    'a nested setting and a list given twice': {
      argv: ['--tls-mode', 'existing-secret', '--tls-dns-names', 'a,b', '--tls-dns-names', 'c'],
      value: { ...DEFAULTS, tls: { mode: 'existing-secret', dnsNames: ['a', 'b', 'c'] } },
    },
  };
  test.each(Object.entries(accepted))('accepts %s', (_, { argv, value }) => {
    expect(load(argv)).toEqual({ ok: true, value });
  });

  const refused: Record<string, { argv: string[]; file?: string; mistakes: string[] }> = {
    'a misspelt key, at the top and nested, and a wrong value, all at once': {
      argv: ['--config', 'a.yaml'],
      file: `${HEADER}prot: 1\nmode: Maybe\ntls: {mod: x}\n`,
      mistakes: [
        'mode: Invalid option: expected one of "DryRun"|"Enforce" (found "Maybe")',
        'tls.mod: unknown key, did you mean "mode"?',
        'prot: unknown key, did you mean "port"?',
      ],
    },
    'a key like nothing known': {
      argv: ['--config', 'a.yaml'],
      file: `${HEADER}zebra: 1\n`,
      mistakes: ['zebra: unknown key'],
    },
    'a prototype key': {
      argv: ['--config', 'a.yaml'],
      file: `${HEADER}__proto__: {port: 1}\n`,
      mistakes: ['__proto__: unknown key'],
    },
    'an unknown flag': { argv: ['--prot', '1'], mistakes: ['--prot: unknown flag, did you mean --port?'] },
    'an argument that is no flag': { argv: ['serve'], mistakes: ['"serve": expected a flag'] },
    'a flag without its value': { argv: ['--port'], mistakes: ['--port: a value is missing'] },
    'a number in hexadecimal': {
      argv: ['--port', '0x10'],
      mistakes: ['port: Invalid input: expected number, received string (found "0x10")'],
    },
    'a number out of range': {
      argv: ['--port', '70000'],
      mistakes: ['port: Too big: expected number to be <=65535 (found 70000)'],
    },
    'an unreadable file': {
      argv: ['--config', 'absent.yaml'],
      mistakes: ['cannot read configuration file "absent.yaml": no such file'],
    },
    'a file of another kind': {
      argv: ['--config', 'a.yaml'],
      file: 'apiVersion: v1\nport: 1\n',
      mistakes: [
        'a.yaml: apiVersion: expected "config.plimsoll.dev/v1alpha1", found "v1"',
        'a.yaml: kind: expected "TestConfiguration", found nothing',
      ],
    },
    'a file that is a list': {
      argv: ['--config', 'a.yaml'],
      file: '- 1\n',
      mistakes: ['a.yaml: expected a mapping of settings'],
    },
    'doubled keys': {
      argv: ['--config', 'a.yaml'],
      file: `${HEADER}port: 1\nport: 2\n`,
      mistakes: ['a.yaml: Map keys must be unique at line 4, column 1'],
    },
  };
  test.each(Object.entries(refused))('refuses %s', (_, { argv, file, mistakes }) => {
    expect(load(argv, file)).toEqual({ ok: false, mistakes });
  });

  test('refuses an anchor bomb without unfolding it', () => {
    const levels = Array.from(
      { length: 20 },
      (_, level) => `l${level + 1}: &l${level + 1} [*l${level}, *l${level}, *l${level}]`,
    );
    const result = load(['--config', 'a.yaml'], `${HEADER}l0: &l0 [x, x]\n${levels.join('\n')}\n`);
    expect(result).toEqual({
      ok: false,
      mistakes: ['a.yaml: Excessive alias count indicates a resource exhaustion attack'],
    });
  });
});

describe('variables that Services could set', () => {
  const refused = 'PLIMSOLL_PORT: a Service could set this variable; set PLIMSOLL__PORT instead';
  const cases: Record<string, { env: Record<string, string>; result: unknown }> = {
    'one that a Service set': { env: { PLIMSOLL_PORT: 'tcp://10.0.0.1:443' }, result: { ok: true, value: DEFAULTS } },
    'one that a person set': { env: { PLIMSOLL_PORT: '9443' }, result: { ok: false, mistakes: [refused] } },
    'one that is empty': { env: { PLIMSOLL_PORT: '' }, result: { ok: true, value: DEFAULTS } },
    'the name that no Service can set': {
      env: { PLIMSOLL_PORT: 'tcp://10.0.0.1:443', PLIMSOLL__PORT: '9443' },
      result: { ok: true, value: { ...DEFAULTS, port: 9443 } },
    },
  };
  test.each(Object.entries(cases))('%s', (_, { env, result }) => {
    expect(load([], '', env)).toEqual(result);
  });
});

describe('describeSettings', () => {
  test('lists every flag with its description', () => {
    expect(describeSettings(schema, 'PLIMSOLL').split('\n').slice(0, 2)).toEqual([
      '  --config         Configuration file (YAML)',
      '  --port           Port to listen on',
    ]);
  });
});
