import { expect, test } from 'vitest';
import { runPlimsoll, verdicts } from './run-plimsoll.ts';

const YAML_1_1 = `apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: at-the-ceiling}
value: 01750
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: grouped}
value: 1_000
---
apiVersion: v1
kind: Pod
metadata: {name: norway, namespace: a, labels: {country: no}}
spec: {priorityClassName: at-the-ceiling, containers: [{name: c, image: x}]}
`;
const CEILING = `---
apiVersion: plimsoll.dev/v1alpha1
kind: PriorityPolicy
metadata: {name: p}
spec: {maxPriority: 999}
`;

test('a boolean of YAML 1.1 is no text, and the refusal names the field', async () => {
  const { code, stdout } = await runPlimsoll(['review', '-f', '-'], YAML_1_1);
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringMatching(
      /Pod\/a\/norway +false +400 +object\.metadata\.labels\.country: expected a text, got false/,
    ) as string,
  });
});

test.each(['at-the-ceiling', 'grouped'])('the number of class %s is 1000', async (name) => {
  const text = YAML_1_1.replace('country: no', 'country: "no"').replace(
    'priorityClassName: at-the-ceiling',
    `priorityClassName: ${name}`,
  );
  expect(await verdicts(['-f', '-'], text)).toMatchObject({ 'Pod/a/norway': true });
  expect(await verdicts(['-f', '-'], text + CEILING)).toMatchObject({ 'Pod/a/norway': false });
  const higher = CEILING.replace('999', '1000');
  expect(await verdicts(['-f', '-'], text + higher)).toMatchObject({ 'Pod/a/norway': true });
});

test.each(['\n', '', '\n---\n', '---\n'])('objects of JSON, separated by %j', async (separator) => {
  const pod = (name: string) =>
    `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}","namespace":"a"},"spec":{"containers":[{"name":"c","image":"x"}]}}`;
  expect(await verdicts(['-f', '-'], [pod('one'), pod('two'), pod('three')].join(separator))).toEqual({
    'Pod/a/one': true,
    'Pod/a/two': true,
    'Pod/a/three': true,
  });
});
