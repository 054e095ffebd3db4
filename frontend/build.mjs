// Writes static/vendor from the locked packages: npm ci --ignore-scripts && npm run build.
import { build } from 'esbuild';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';

const out = '../static/vendor';
const packed = (name) => `node_modules/${name}`;
const manifest = (name) => JSON.parse(readFileSync(`${packed(name)}/package.json`, 'utf8'));

const copies = [
  ['htmx.org', 'dist/htmx.min.js', 'htmx.min.js'],
  ['uplot', 'dist/uPlot.iife.min.js', 'uplot.min.js'],
  ['uplot', 'dist/uPlot.min.css', 'uplot.min.css'],
  ['@fontsource-variable/inter', 'files/inter-latin-wght-normal.woff2', 'inter-latin-var.woff2'],
  ['@fontsource-variable/jetbrains-mono', 'files/jetbrains-mono-latin-wght-normal.woff2', 'jetbrains-mono-latin-var.woff2'],
];

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const [name, file, target] of copies) {
  const from = `${packed(name)}/${file}`;
  if (target.endsWith('.woff2')) copyFileSync(from, `${out}/${target}`);
  else writeFileSync(`${out}/${target}`, readFileSync(from, 'utf8').replace(/\n?\/[/*]# sourceMappingURL=.*$/m, ''));
}

const bundle = await build({
  entryPoints: ['sql-editor.js'], bundle: true, minify: true, format: 'esm', target: 'es2022',
  outfile: `${out}/sql-editor.js`, metafile: true, legalComments: 'none',
});

const bundled = Object.keys(bundle.metafile.inputs).map((file) => file.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
const names = new Set([...copies.map((copy) => copy[0]), ...bundled.filter(Boolean)]);
let text = 'Third-party front-end code in this folder\n';
for (const name of [...names].sort()) {
  const licence = readdirSync(packed(name)).find((file) => /^licen[sc]e/i.test(file));
  const { version, license } = manifest(name);
  const body = licence ? readFileSync(`${packed(name)}/${licence}`, 'utf8').trim() : '(no licence file in the package)';
  text += `\n\n== ${name} ${version} (${license}) ==\n${body}\n`;
}
writeFileSync(`${out}/LICENSES.txt`, text);
