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
  const live = $('live');
  let source = null;
  const tell = (text, off) => {
    live.hidden = false;
    live.textContent = text;
    live.classList.toggle('off', off);
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
    for (const [name, f] of Object.entries(events)) {
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
    let sec = list.querySelector(`section[data-section="${s.name}"]`);
    if (!sec) {
      sec = document.createElement('section');
      sec.dataset.section = s.name;
      sec.append(document.createElement('h2'), document.createElement('ul'));
    }
    sec.firstElementChild.textContent = s.label;
    return [sec, s.ids];
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
    const links = [...document.querySelectorAll('.row a')];
    const at = links.indexOf(document.activeElement);
    const next = links[at < 0 ? 0 : at + (e.key === 'j' ? 1 : -1)];
    if (next) { next.focus(); next.scrollIntoView({block: 'nearest'}); }
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
  if (find.value) { find.focus(); find.setSelectionRange(find.value.length, find.value.length); }
}

const live = document.body.dataset.live;
if (live && $('list')) listen(live, {list: showList});
