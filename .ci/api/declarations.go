package main

import (
	"bytes"
	"fmt"
	"go/constant"
	"go/format"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// declarations returns what a package exports as Go: constants with their values, variables,
// functions without bodies, types without what they hide. Types that are not exported come too
// if something exported mentions them.
func declarations(p *types.Package) []byte {
	w := write(p)
	var out bytes.Buffer
	fmt.Fprintf(&out, "package %s\n\n", p.Name())
	for _, path := range slices.Sorted(maps.Keys(w.imports)) {
		fmt.Fprintf(&out, "import %q\n", path)
	}
	out.Write(w.text.Bytes())
	formatted, err := format.Source(out.Bytes())
	if err != nil {
		return out.Bytes() // the check of the text names the place
	}
	return formatted
}

// write returns the declarations of a package.
func write(p *types.Package) *writer {
	w := &writer{pkg: p, imports: map[string]bool{}, written: map[*types.TypeName]bool{}}
	for _, name := range p.Scope().Names() {
		if o := p.Scope().Lookup(name); o.Exported() {
			w.object(o)
		}
	}
	for len(w.hidden) > 0 {
		next := w.hidden[0]
		w.hidden = w.hidden[1:]
		w.object(next)
	}
	return w
}

type writer struct {
	pkg     *types.Package
	text    bytes.Buffer
	imports map[string]bool
	// hidden are types of the package that something exported mentions.
	hidden  []*types.TypeName
	written map[*types.TypeName]bool
}

func (w *writer) printf(text string, args ...any) { fmt.Fprintf(&w.text, text, args...) }

// qualifier names a package in a type, and notes that it is imported.
func (w *writer) qualifier(p *types.Package) string {
	if p == w.pkg {
		return ""
	}
	w.imports[p.Path()] = true
	return p.Name()
}

// name writes a type as other declarations mention it.
func (w *writer) name(t types.Type) string {
	w.find(t, map[types.Type]bool{})
	return types.TypeString(t, w.qualifier)
}

// find notes the types of the package that a type mentions and that are not exported.
func (w *writer) find(t types.Type, seen map[types.Type]bool) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	switch t := t.(type) {
	case *types.Named:
		w.note(t.Obj())
		for arg := range t.TypeArgs().Types() {
			w.find(arg, seen)
		}
	case *types.Alias:
		w.note(t.Obj())
	case *types.Pointer:
		w.find(t.Elem(), seen)
	case *types.Slice:
		w.find(t.Elem(), seen)
	case *types.Array:
		w.find(t.Elem(), seen)
	case *types.Chan:
		w.find(t.Elem(), seen)
	case *types.Map:
		w.find(t.Key(), seen)
		w.find(t.Elem(), seen)
	case *types.Signature:
		for v := range t.Params().Variables() {
			w.find(v.Type(), seen)
		}
		for v := range t.Results().Variables() {
			w.find(v.Type(), seen)
		}
	}
}

func (w *writer) note(o *types.TypeName) {
	if o.Pkg() == w.pkg && !o.Exported() && !w.written[o] {
		w.written[o] = true
		w.hidden = append(w.hidden, o)
	}
}

func (w *writer) object(o types.Object) {
	switch o := o.(type) {
	case *types.Const:
		w.printf("\nconst %s %s = %s\n", o.Name(), constantType(w, o), value(o))
	case *types.Var:
		w.printf("\nvar %s %s\n", o.Name(), w.name(o.Type()))
	case *types.Func:
		w.printf("\nfunc %s%s%s\n", o.Name(), w.signature(o.Signature()), body(o.Signature().TypeParams()))
	case *types.TypeName:
		w.typeName(o)
	}
}

// value writes a constant; a fraction is exact, as a division of two numbers.
func value(o *types.Const) string {
	text := o.Val().ExactString()
	if o.Val().Kind() == constant.Float {
		text = strings.Replace(text, "/", ".0/", 1)
	}
	return text
}

func constantType(w *writer, o *types.Const) string {
	if b, ok := o.Type().(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		return ""
	}
	return w.name(o.Type())
}

// signature writes type parameters, parameters and results.
func (w *writer) signature(s *types.Signature) string {
	return w.typeParams(s.TypeParams()) + strings.TrimPrefix(w.name(types.NewSignatureType(nil, nil, nil, s.Params(), s.Results(), s.Variadic())), "func")
}

func (w *writer) typeParams(list *types.TypeParamList) string {
	if list.Len() == 0 {
		return ""
	}
	var all []string
	for p := range list.TypeParams() {
		all = append(all, p.Obj().Name()+" "+w.name(p.Constraint()))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func (w *writer) typeName(o *types.TypeName) {
	if o.IsAlias() {
		w.printf("\ntype %s = %s\n", o.Name(), w.name(types.Unalias(o.Type())))
		return
	}
	named := o.Type().(*types.Named)
	w.printf("\ntype %s%s ", o.Name(), w.typeParams(named.TypeParams()))
	switch u := named.Underlying().(type) {
	case *types.Struct:
		w.structure(u)
	case *types.Interface:
		w.methods(u)
	default:
		w.printf("%s\n", w.name(u))
	}
	for m := range named.Methods() {
		if !m.Exported() {
			continue
		}
		receiver := o.Name()
		if list := named.TypeParams(); list.Len() > 0 {
			var names []string
			for p := range list.TypeParams() {
				names = append(names, p.Obj().Name())
			}
			receiver += "[" + strings.Join(names, ", ") + "]"
		}
		if _, ok := m.Signature().Recv().Type().(*types.Pointer); ok {
			receiver = "*" + receiver
		}
		w.printf("\nfunc (%s) %s%s%s\n", receiver, m.Name(), w.signature(m.Signature()), body(named.TypeParams()))
	}
}

// body is that of a function; Go wants one of generic functions.
func body(generic *types.TypeParamList) string {
	if generic.Len() == 0 {
		return ""
	}
	return " {}"
}

// structure writes exported fields; one field stands for all that are hidden.
func (w *writer) structure(s *types.Struct) {
	w.printf("struct {\n")
	hidden := false
	for i := range s.NumFields() {
		f := s.Field(i)
		switch {
		case f.Embedded():
			w.printf("%s\n", w.name(f.Type()))
		case f.Exported():
			w.printf("%s %s\n", f.Name(), w.name(f.Type()))
		default:
			hidden = true
		}
	}
	if hidden {
		w.printf("hidden []func() // what is not exported\n")
	}
	w.printf("}\n")
}

func (w *writer) methods(i *types.Interface) {
	w.printf("interface {\n")
	for e := range i.EmbeddedTypes() {
		w.printf("%s\n", w.name(e))
	}
	for m := range i.ExplicitMethods() {
		w.printf("%s%s\n", m.Name(), w.signature(m.Signature()))
	}
	w.printf("}\n")
}
