import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadConfiguration } from '#shared/runtime/configuration.ts';
import { listSettings } from '#shared/runtime/settings.ts';
import { CONFIGURATIONS } from '#tools/references/describe-configuration.ts';

interface ServicePort {
  readonly name: string;
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
}

/** The variables that the kubelet sets for a Service where service links are on (pkg/kubelet/envvars). */
function serviceVariables(service: string, ports: readonly ServicePort[]): Readonly<Record<string, string>> {
  const upper = (name: string): string => name.toUpperCase().replaceAll('-', '_');
  const prefix = upper(service);
  const [first] = ports;
  const links = ports.map(({ name, port, protocol }) => {
    const link = `${prefix}_PORT_${port}_${protocol}`;
    return {
      [`${prefix}_SERVICE_PORT_${upper(name)}`]: String(port),
      [link]: `${protocol.toLowerCase()}://10.96.0.7:${port}`,
      [`${link}_PROTO`]: protocol.toLowerCase(),
      [`${link}_PORT`]: String(port),
      [`${link}_ADDR`]: '10.96.0.7',
    };
  });
  const own = {
    [`${prefix}_SERVICE_HOST`]: '10.96.0.7',
    [`${prefix}_SERVICE_PORT`]: String(first?.port),
    [`${prefix}_PORT`]: `${first?.protocol.toLowerCase()}://10.96.0.7:${first?.port}`,
  };
  return Object.assign(own, ...links) as Readonly<Record<string, string>>;
}

/** Services and ports whose variables come close to those of settings: the names of settings, cut and joined. */
const SETTINGS = Object.values(CONFIGURATIONS).flatMap((schema) => listSettings(schema, 'PLIMSOLL'));
const WORDS = [...new Set(SETTINGS.flatMap(({ path }) => path))].map((word) => word.toLowerCase());
const NAMED = SETTINGS.map(({ flag }) => flag.slice(2).replace(/(-service)?-(port|host)(-.*)?$/, ''));
const label = fc
  .array(fc.constantFrom(...WORDS, 'service', 'port', 'host', 'tcp', '80'), { minLength: 1, maxLength: 3 })
  .chain((words) => fc.constantFrom('-', '--').map((between) => words.join(between)));
const serviceName = fc.oneof(
  fc.constant('plimsoll'),
  fc.constantFrom(...NAMED).map((name) => `plimsoll-${name}`),
  label.chain((name) => fc.constantFrom('-', '--').map((between) => `plimsoll${between}${name}`)),
);
const servicePorts = fc.array(
  fc.record({
    name: label,
    port: fc.integer({ min: 1, max: 65_535 }),
    protocol: fc.constantFrom('TCP' as const, 'UDP' as const, 'SCTP' as const),
  }),
  { minLength: 1, maxLength: 3 },
);

function mistakes(kind: string, env: Readonly<Record<string, string>>): readonly string[] {
  const schema = CONFIGURATIONS[kind];
  if (schema === undefined) return [`no configuration ${kind}`];
  const readFile = (): string => '';
  const loaded = loadConfiguration({ kind, schema, argv: [], env, envPrefix: 'PLIMSOLL', readFile });
  return loaded.ok ? [JSON.stringify(loaded.value)] : loaded.mistakes;
}

describe('variables of settings', () => {
  test('no Service sets a setting or keeps a process from starting', () => {
    fc.assert(
      fc.property(serviceName, servicePorts, (service, ports) => {
        const env = serviceVariables(service, ports);
        expect(SETTINGS.map(({ variable }) => variable).filter((variable) => variable in env)).toEqual([]);
        for (const kind of Object.keys(CONFIGURATIONS)) {
          expect([kind, ...mistakes(kind, env)]).toEqual([kind, ...mistakes(kind, {})]);
        }
      }),
      { numRuns: 300 },
    );
  });
});
