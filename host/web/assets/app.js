// The script of the pages of swarm web. The server writes all HTML; the script keeps it
// current and makes keys work. Without it the pages show what was so when they were loaded.
'use strict';

const $ = (id) => document.getElementById(id);

// element makes an element of the HTML that the server wrote.
function element(html) {
  const t = document.createElement('template');
  t.innerHTML = html;
  return t.content.firstElementChild;
}

// listen keeps a stream of events open while the page is visible: a browser has few
// connections to one server.
function listen(address, events) {
  const live = $('live'), lost = $('lost');
  let source = null;
  const tell = (text, off) => {
    live.hidden = false;
    live.textContent = text;
    live.classList.toggle('off', off);
    if (off && lost.hidden) lost.querySelector('time').textContent = new Date().toTimeString().slice(0, 8);
    lost.hidden = !off;
  };
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource(typeof address === 'function' ? address() : address);
    source.onopen = () => tell('live', false);
    source.onerror = () => {
      tell('reconnecting', true);
      if (source && source.readyState === EventSource.CLOSED) { // the server refuses
        close();
        setTimeout(open, 3000);
      }
    };
    for (const [name, f] of Object.entries({title: (text) => { document.title = text; }, ...events})) {
      source.addEventListener(name, (e) => f(JSON.parse(e.data)));
    }
  };
  const close = () => { if (source) source.close(); source = null; };
  document.addEventListener('visibilitychange', () => document.hidden ? close() : open());
  window.addEventListener('pagehide', close);
  window.addEventListener('pageshow', open);
  open();
}

// put places the children in a parent in their order, and moves only those that are not there.
function put(parent, children) {
  children.forEach((c, i) => { if (parent.children[i] !== c) parent.insertBefore(c, parent.children[i] || null); });
  while (parent.children.length > children.length) parent.lastElementChild.remove();
}

// showList brings the list of workers to what the server says of it.
function showList(change) {
  const list = $('list');
  const focused = document.activeElement.closest('.row')?.id;
  $('head').innerHTML = change.head;
  const sections = change.sections.map((s) => {
    let sec = [...list.children].find((c) => c.dataset.section === s.name);
    if (!sec) {
      sec = document.createElement('section');
      sec.dataset.section = s.name;
      sec.append(document.createElement('h2'), document.createElement('ul'));
    }
    replace(sec.firstElementChild, s.head);
    return [sec, s.keys];
  });
  const loaded = list.dataset.loaded;
  for (const [id, html] of Object.entries(change.rows)) {
    const fresh = element(html);
    const old = $('w-' + id);
    if (!old) {
      rows.set(id, fresh);
      if (loaded) fresh.classList.add('fresh');
    } else {
      if (loaded && old.dataset.kind !== fresh.dataset.kind) fresh.classList.add('fresh');
      old.replaceWith(fresh);
      rows.set(id, fresh);
    }
  }
  for (const [sec, ids] of sections) put(sec.lastElementChild, ids.map((id) => rows.get(id) || $('w-' + id)).filter(Boolean));
  put(list, sections.map(([sec]) => sec));
  for (const id of rows.keys()) if (!$('w-' + id)) rows.delete(id);
  list.dataset.loaded = 'yes';
  replace($('empty'), change.empty);
  $('empty').hidden = sections.length > 0;
  if (focused) $(focused)?.firstElementChild.focus({preventScroll: true});
}
const rows = new Map();

// keys: / looks for something, j and k go down and up, Escape leaves a field.
document.addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const field = document.activeElement.closest('input, select, textarea');
  if (e.key === 'Escape' && field) return field.blur();
  if (field || document.querySelector('dialog[open]')) return;
  if (e.key === '/') {
    const search = document.querySelector('[data-key="/"]');
    if (search) { e.preventDefault(); search.focus(); search.select(); }
  } else if (e.key === 'j' || e.key === 'k') {
    const links = [...document.querySelectorAll('.fold, .row a')];
    const at = links.indexOf(document.activeElement);
    const next = links[at < 0 ? 0 : at + (e.key === 'j' ? 1 : -1)];
    if (next) { next.focus(); next.scrollIntoView({block: 'nearest'}); }
  } else if (find && (e.key === 'b' || e.key === 'o')) {
    const choice = find.form.querySelector(`[data-key="${e.key}"]`);
    choice.selectedIndex = (choice.selectedIndex + 1) % choice.options.length;
    show(choice);
  } else if (e.key === 'u' || e.key === 'Backspace') {
    document.querySelector('[data-key="up"]')?.click();
  }
});

// A filter is used as it is typed.
const find = document.querySelector('.find input[name=q]');
if (find) {
  let typed;
  find.addEventListener('input', () => {
    clearTimeout(typed);
    typed = setTimeout(() => find.form.requestSubmit(), 400);
  });
  find.form.addEventListener('change', (e) => { if (e.target !== find) show(e.target); });
  find.form.addEventListener('formdata', (e) => { // an address says only what is not as usual
    for (const [name, value] of [...e.formData]) if (!value && name !== 'fold') e.formData.delete(name);
  });
  if (find.value) { find.focus(); find.setSelectionRange(find.value.length, find.value.length); }
}

// show shows the list as a choice says. Other groups have sections of other names.
function show(choice) {
  if (choice.name === 'group') for (const f of find.form.querySelectorAll('[name=fold]')) f.remove();
  find.form.requestSubmit();
}

// The way back leads to the list as it was seen last. A section that was folded by a key
// keeps the focus.
if ($('list')) {
  sessionStorage.setItem('list', location.pathname + location.search); // with the base
  const folded = sessionStorage.getItem('folded');
  sessionStorage.removeItem('folded');
  if (folded !== null) [...$('list').children].find((s) => s.dataset.section === folded)?.querySelector('.fold')?.focus();
} else {
  document.querySelector('[data-key="up"]')?.setAttribute('href', sessionStorage.getItem('list') || document.body.dataset.base);
}
document.addEventListener('click', (e) => {
  const fold = e.target.closest('.fold');
  if (fold) sessionStorage.setItem('folded', fold.closest('section').dataset.section);
});

// replace brings an element to new HTML, unless it is the same.
function replace(el, html) {
  if (el.dataset.html === html) return;
  el.dataset.html = html;
  const focused = el.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
  const open = new Map([...el.querySelectorAll('details[data-keep]')].map((d) => [d.dataset.keep, d.open]));
  el.innerHTML = html;
  for (const d of el.querySelectorAll('details[data-keep]')) d.open = open.get(d.dataset.keep) ?? d.open;
  if (focused) el.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus({preventScroll: true});
}

// showLog keeps the log of a worker current: at its end as long as the end is in view.
function showLog() {
  const log = $('log');
  const most = 5000;
  let first = 0, before = 0; // the number of the first line that is shown, and of those before all
  const atEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < 30;
  const toEnd = () => { log.scrollTop = log.scrollHeight; };
  const count = (n) => n.toLocaleString() + (n === 1 ? ' line' : ' lines');
  const tellEarlier = () => {
    const n = before + first, follow = atEnd();
    $('earlier').hidden = !n;
    $('earlier').firstElementChild.textContent = `${n.toLocaleString()} earlier ${n === 1 ? 'line' : 'lines'}`;
    if (follow) toEnd();
  };
  const add = (p) => {
    const follow = atEnd();
    if (p.from < first || !log.children.length) { log.replaceChildren(); first = p.from - p.skipped; }
    while (log.children.length > Math.max(0, p.from - p.skipped - first)) log.lastElementChild.remove();
    if (p.skipped) {
      log.append(element(`<div class="gap">… ${Number(p.skipped)} lines were left out</div>`));
      first = p.from - log.children.length;
    }
    const t = document.createElement('template');
    t.innerHTML = p.lines.join('');
    log.append(t.content);
    const excess = log.children.length - most;
    for (let i = 0; i < excess; i++) log.firstElementChild.remove();
    if (excess > 0) first += excess;
    if (follow) toEnd();
    tellEarlier();
    later();
  };
  const search = $('search'), level = $('level'), wrap = $('wrap'), times = $('times'), found = $('found');
  let ranges = [], at = -1, timer = 0;
  // where says what was searched, unless it was everything.
  const where = () => before + first > 0 ? ` in the last ${count(log.children.length)}` : '';
  const later = () => { if (search.value) { clearTimeout(timer); timer = setTimeout(mark, 150); } };
  // mark shows what is searched for, without a change of the lines.
  const mark = () => {
    ranges = [];
    const want = search.value.toLowerCase();
    const walk = document.createTreeWalker(log, NodeFilter.SHOW_TEXT);
    while (want && ranges.length < 2000 && walk.nextNode()) {
      const n = walk.currentNode, text = n.data.toLowerCase();
      for (let i = text.indexOf(want); i >= 0; i = text.indexOf(want, i + want.length)) {
        const r = new Range();
        r.setStart(n, i);
        r.setEnd(n, Math.min(i + want.length, n.data.length));
        ranges.push(r);
      }
    }
    if (CSS.highlights) CSS.highlights.set('found', new Highlight(...ranges));
    found.textContent = want ? `${ranges.length} found${where()}` : '';
  };
  const go = (step) => {
    if (!ranges.length) return;
    at = (at + step + ranges.length) % ranges.length;
    ranges[at].startContainer.parentElement.scrollIntoView({block: 'center'});
    found.textContent = `${at + 1} of ${ranges.length}${where()}`;
  };
  search.addEventListener('input', () => { at = -1; mark(); if (ranges.length) go(-1 - at); });
  search.addEventListener('keydown', (e) => { if (e.key === 'Enter') { e.preventDefault(); go(e.shiftKey ? 1 : -1); } });
  level.addEventListener('change', () => {
    log.className = log.className.replace(/ ?level-\w+/, '') + (level.value ? ' level-' + level.value : '');
    toEnd();
  });
  wrap.addEventListener('change', () => { const follow = atEnd(); log.classList.toggle('wrap', wrap.checked); if (follow) toEnd(); });
  times.addEventListener('change', () => { const follow = atEnd(); log.classList.toggle('times', times.checked); if (follow) toEnd(); });
  wrap.checked = matchMedia('(max-width: 48rem)').matches;
  times.checked = !wrap.checked;
  log.classList.toggle('wrap', wrap.checked);
  log.classList.toggle('times', times.checked);
  return {
    log: add,
    earlier: (n) => { before = n; tellEarlier(); },
    begin: () => { log.replaceChildren(); first = before = 0; tellEarlier(); $('over').hidden = true; log.classList.remove('over'); },
    over: (why) => { $('over').hidden = false; log.classList.toggle('over', !why); $('over').innerHTML = 'The output has ended.' + (why ? ' ' + why : ''); },
  };
}

// ask opens the question of an action in a dialog instead of on a page of its own.
document.addEventListener('click', async (e) => {
  const link = e.target.closest('a[data-ask], a[data-close]');
  if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
  const open = link.closest('dialog');
  if (link.hasAttribute('data-close') && open) { e.preventDefault(); return open.close(); }
  if (!link.hasAttribute('data-ask')) return;
  e.preventDefault();
  const answer = await fetch(link.href, {headers: {Accept: 'text/html'}}).catch(() => null);
  const page = answer && answer.ok && new DOMParser().parseFromString(await answer.text(), 'text/html');
  const form = page && page.getElementById('question');
  if (!form) { location.href = link.href; return; }
  const dialog = document.createElement('dialog');
  dialog.append(form);
  document.body.append(dialog);
  dialog.addEventListener('close', () => { dialog.remove(); link.focus(); });
  dialog.showModal();
  form.querySelector('[autofocus]')?.focus();
});

const live = document.body.dataset.live;
if (live && $('list')) listen(live, {list: showList});
if (live && ($('teams') || $('timeline'))) listen(live, {part: (p) => replace($(p.id), p.html)});
if (live && $('workerhead')) {
  listen(live, {
    head: (h) => replace($('workerhead'), h.html),
    gone: () => { location.href = document.body.dataset.base; },
    part: (p) => replace($(p.id), p.html),
    ...($('log') ? showLog() : {}),
    ...($('screen') ? {begin: () => {}, screen: (html) => { $('screen').innerHTML = html; }} : {}),
  });
}
